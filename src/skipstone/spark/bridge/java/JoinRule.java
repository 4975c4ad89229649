package skipstone;

import org.apache.spark.sql.catalyst.expressions.DynamicPruningSubquery;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.planning.ExtractEquiJoinKeys$;
import org.apache.spark.sql.catalyst.plans.logical.Filter;
import org.apache.spark.sql.catalyst.plans.logical.Join;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.trees.TreePattern;
import org.apache.spark.sql.execution.datasources.HadoopFsRelation;
import org.apache.spark.sql.execution.datasources.LogicalRelation;
import org.apache.spark.sql.internal.SQLConf;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import scala.Option;
import scala.Tuple8;
import scala.collection.mutable.ListBuffer;

import java.util.ArrayList;
import java.util.List;

/**
 * Finds equijoins by which files of registered tables may be skipped when the keys of the other
 * side are known, and puts a filter for that on their scans: Spark's own expression for pruning
 * partitions dynamically, which Spark plans, reuses the broadcast for and runs. {@link
 * DynamicStrategy} then makes the scans that use it.
 *
 * <p>A join is looked at before those below it. Its other side is finished first, so that what is
 * broadcast and what the keys are taken from is one and the same plan.
 */
final class JoinRule {
    private static final Logger LOG = LoggerFactory.getLogger("skipstone");

    /** The session's setting that turns skipping by joins off and on. */
    static final String SWITCH = "spark.skipstone.joins.enabled";

    /** If the keys of a file are in more of the files than that, joins will not skip many. */
    private static final double MOST_SHARE = 0.75;

    /** What may be read for keys in vain, as a part of the scan. */
    private static final double MOST_IN_VAIN = 0.03;

    /** Up to so many bytes, more is read for keys than that, if twice as much may be saved. */
    static final String COLLECTED = "spark.skipstone.joins.collectedBytes";

    private final JoinPruner pruner;
    private final ScanPruner scans;

    JoinRule(JoinPruner pruner, ScanPruner scans) {
        this.pruner = pruner;
        this.scans = scans;
    }

    /** The plan of a query or of a subquery; what is in its own subqueries is not looked at. */
    LogicalPlan rewrite(LogicalPlan plan) {
        SQLConf conf = SQLConf.get();
        if (!conf.getConfString(SWITCH, "true").equalsIgnoreCase("true")
                || !conf.dynamicPartitionPruningEnabled()
                || !plan.containsPattern(TreePattern.JOIN())
                || plan.isStreaming()
                || done(plan)) {
            return plan;
        }
        try {
            return pruner.knowsAny(plan) ? process(plan, new ArrayList()) : plan;
        } catch (VirtualMachineError fatal) {
            throw fatal;
        } catch (Throwable failure) {
            if (failure instanceof InterruptedException) {
                Thread.currentThread().interrupt();
            }
            LOG.warn("skipstone leaves the joins of a query alone: " + failure);
            return plan;
        }
    }

    /** Whether this rule has been here: Spark runs rules until a plan stays as it is. */
    private static boolean done(LogicalPlan plan) {
        if (plan instanceof Filter && ((Filter) plan).child() instanceof LogicalRelation) {
            LogicalRelation scan = (LogicalRelation) ((Filter) plan).child();
            List conjuncts = new ArrayList();
            ScanQuestion.split(((Filter) plan).condition(), conjuncts);
            for (int i = 0; i < conjuncts.size(); i++) {
                if (conjuncts.get(i) instanceof DynamicPruningSubquery
                        && scan.relation() instanceof HadoopFsRelation
                        && JoinTarget.ofFiles((DynamicPruningSubquery) conjuncts.get(i), scan)) {
                    return true;
                }
            }
        }
        scala.collection.Iterator children = plan.children().iterator();
        while (children.hasNext()) {
            if (done((LogicalPlan) children.next())) {
                return true;
            }
        }
        return false;
    }

    /**
     * @param above what joins above ask of scans in the plan
     */
    private LogicalPlan process(LogicalPlan plan, List above) throws Exception {
        if (!(plan instanceof Join)) {
            return below(plan, above);
        }
        Join join = (Join) plan;
        Option found = ExtractEquiJoinKeys$.MODULE$.unapply(join);
        if (found.isEmpty()) {
            return below(plan, above);
        }
        Tuple8 keys = (Tuple8) found.get();
        boolean leftFirst = JoinSide.size(join.left()) >= JoinSide.size(join.right());
        List asked = new ArrayList(above);
        for (int i = 0; i < 2; i++) {
            JoinSide side =
                    new JoinSide(
                            join,
                            (i == 0) == leftFirst,
                            (scala.collection.immutable.Seq) keys._2(),
                            (scala.collection.immutable.Seq) keys._3());
            LogicalPlan narrowed =
                    KeyAbove.narrowed(side.other(), KeyAbove.below(above, side.otherChild()));
            List chosen = choose(side, narrowed);
            asked.addAll(asks(side, narrowed));
            if (!chosen.isEmpty()) {
                return pruned(side, chosen, asked);
            }
        }
        return below(plan, asked);
    }

    /** What a join asks of the scans that its keys come from, if its other side is filtered. */
    private static List asks(JoinSide side, LogicalPlan other) {
        List out = new ArrayList();
        if (!side.drops() || !RepeatableSide.filtered(other)) {
            return out;
        }
        for (int i = 0; i < side.keys.size(); i++) {
            Expression key = (Expression) side.keys.apply(i);
            Expression otherKey = (Expression) side.otherKeys.apply(i);
            JoinTarget target = JoinTarget.find(key, side.pruned());
            // The keys are compared before joins that would have kept some rows from that.
            if (target != null
                    && target.key.dataType().equals(otherKey.dataType())
                    && SafeFilters.neverFails(target.key)
                    && SafeFilters.neverFails(otherKey)) {
                List way = target.wayFrom(side.prunedChild());
                out.add(new KeyAbove(way, target.key, other, otherKey));
            }
        }
        return out;
    }

    private LogicalPlan below(LogicalPlan plan, List above) throws Exception {
        ListBuffer children = new ListBuffer();
        boolean same = true;
        for (int i = 0; i < plan.children().size(); i++) {
            Object before = plan.children().apply(i);
            LogicalPlan after = process((LogicalPlan) before, KeyAbove.below(above, i));
            same = same && after == before;
            children.addOne(after);
        }
        Object made = same ? plan : plan.withNewChildren(children.toList());
        return !same && plan instanceof Join
                ? followed((Join) plan, (Join) made)
                : (LogicalPlan) made;
    }

    /** A join whose sides have changed. */
    private static LogicalPlan followed(Join before, Join after) {
        ListBuffer sides = new ListBuffer();
        sides.addOne(PartitionPruning.follow(after.left(), before.right(), after.right()));
        sides.addOne(PartitionPruning.follow(after.right(), before.left(), after.left()));
        Object made = after.withNewChildren(sides.toList());
        return (LogicalPlan) made;
    }

    /**
     * A key of a side, the scan that it comes from and how many files have keys like those of one.
     */
    static final class Choice {
        final int index;
        final JoinTarget target;
        final double share;
        final boolean broadcast;

        /** The rows that the keys are those of. */
        final LogicalPlan rows;

        Choice(int index, JoinTarget target, double share, boolean broadcast, LogicalPlan rows) {
            this.index = index;
            this.target = target;
            this.share = share;
            this.broadcast = broadcast;
            this.rows = rows;
        }
    }

    private List choose(JoinSide side, LogicalPlan narrowed) throws Exception {
        List out = new ArrayList();
        for (int i = 0; i < side.keys.size(); i++) {
            JoinTarget target = JoinTarget.find((Expression) side.keys.apply(i), side.pruned());
            JoinPruner.Known scan =
                    target == null ? null : pruner.known((HadoopFsRelation) target.scan.relation());
            if (scan == null) {
                continue;
            }
            // What is broadcast for the join costs nothing, and what joins above ask is not in it.
            boolean broadcast =
                    side.broadcasts(SQLConf.get()) && RepeatableSide.filtered(side.other());
            LogicalPlan rows = broadcast ? side.other() : narrowed;
            JoinNote note = new JoinNote(target, side, i, rows);
            Choice choice = judge(side, new Choice(i, target, 0.0, broadcast, rows), scan, note);
            if (choice == null) {
                scans.addJoin(target.scan, note);
            } else if (choice.broadcast || out.isEmpty()) {
                out.add(choice);
            } else if (choice.share < ((Choice) out.get(0)).share) {
                // Keys that are computed for this alone are computed once.
                out.set(0, choice);
            }
        }
        return out;
    }

    /** Null if a scan is left alone; the note then says why. */
    private Choice judge(JoinSide side, Choice choice, JoinPruner.Known scan, JoinNote note)
            throws Exception {
        JoinTarget target = choice.target;
        if (!side.drops()) {
            return note.refuse("PRESERVED", "rows without a partner are kept by this kind of join");
        }
        if (JoinTarget.byPartition(target.key, target.scan)) {
            return note.refuse("PARTITIONS", "Spark itself prunes partitions by this key");
        }
        Expression otherKey = (Expression) side.otherKeys.apply(choice.index);
        if (!KeyPredicate.supports(target.key.dataType())
                || !target.key.dataType().equals(otherKey.dataType())) {
            return note.refuse("KEY_TYPE", "keys of this type are not compared");
        }
        if (scan.adapter.isWriting()) {
            return note.refuse("TRANSACTION", "a transaction keeps account of what it reads");
        }
        if (!RepeatableSide.filtered(choice.rows)) {
            return note.refuse("NOT_FILTERED", "the other side has no filter");
        }
        String obstacle = RepeatableSide.obstacle(choice.rows, !choice.broadcast, pruner);
        if (obstacle != null) {
            return note.refuse(
                    "NOT_REPEATABLE", "the other side may not be the same twice: " + obstacle);
        }
        Object share = pruner.share(scan, target.key);
        if (!(share instanceof Double)) {
            return note.refuse("NOT_KNOWN", String.valueOf(share));
        }
        note.share = ((Double) share).doubleValue();
        if (note.share > MOST_SHARE) {
            return note.refuse("SPREAD", "the keys of a file are in most files");
        }
        if (!choice.broadcast && !pays(side, choice, note.share)) {
            return note.refuse(
                    "COST", "computing the other side's keys costs more than it may save");
        }
        return new Choice(choice.index, target, note.share, choice.broadcast, choice.rows);
    }

    /**
     * Whether computing keys may save more than it reads. How many keys there are and how few files
     * they are in is not known, so it may be in vain: it has to be next to nothing, beside the scan
     * or at all. What joins above ask is computed for the keys alone.
     */
    private static boolean pays(JoinSide side, Choice choice, double share) {
        double scanned = JoinSide.size(choice.target.scan);
        double cost = JoinSide.cost(choice.rows);
        double little = Double.parseDouble(SQLConf.get().getConfString(COLLECTED, "10485760"));
        return cost < MOST_IN_VAIN * scanned
                || choice.rows == side.other()
                        && cost <= little
                        && cost < (1.0 - share) * 0.5 * scanned;
    }

    private LogicalPlan pruned(JoinSide side, List chosen, List asked) throws Exception {
        LogicalPlan other = process(side.other(), KeyAbove.below(asked, side.otherChild()));
        LogicalPlan pruned = side.pruned();
        for (int i = 0; i < chosen.size(); i++) {
            Choice choice = (Choice) chosen.get(i);
            Expression key = choice.target.key;
            LogicalPlan rows = choice.rows == side.other() ? other : choice.rows;
            DynamicPruningSubquery filter =
                    choice.broadcast
                            ? JoinSide.broadcast(key, rows, side.otherKeys, choice.index)
                            : JoinSide.collected(
                                    key, rows, (Expression) side.otherKeys.apply(choice.index));
            // The way to a scan stays the same when filters are added below it.
            pruned =
                    JoinTarget.find((Expression) side.keys.apply(choice.index), pruned)
                            .filtered(pruned, filter);
            JoinNote note = new JoinNote(choice.target, side, choice.index, choice.rows);
            note.accept(choice.broadcast, choice.share);
            note.last = pruner.records.last(note.decision());
            pruner.records.planned(filter.exprId().id(), note.decision());
            scans.addJoin(choice.target.scan, note);
        }
        ListBuffer children = new ListBuffer();
        LogicalPlan done = process(pruned, KeyAbove.below(asked, side.prunedChild()));
        children.addOne(side.left ? done : other);
        children.addOne(side.left ? other : done);
        Object made = side.join.withNewChildren(children.toList());
        return followed(side.join, (Join) made);
    }
}
