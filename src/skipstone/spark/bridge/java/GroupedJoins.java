package skipstone;

import com.fasterxml.jackson.databind.ObjectMapper;

import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.optimizer.BuildLeft$;
import org.apache.spark.sql.catalyst.optimizer.BuildRight$;
import org.apache.spark.sql.catalyst.optimizer.BuildSide;
import org.apache.spark.sql.catalyst.optimizer.InjectRuntimeFilter$;
import org.apache.spark.sql.catalyst.planning.ExtractEquiJoinKeys$;
import org.apache.spark.sql.catalyst.plans.logical.HintInfo;
import org.apache.spark.sql.catalyst.plans.logical.Join;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.classic.SparkSession;
import org.apache.spark.sql.execution.FilterExec;
import org.apache.spark.sql.execution.SparkPlan;
import org.apache.spark.sql.execution.SparkStrategy;
import org.apache.spark.sql.execution.datasources.HadoopFsRelation;
import org.apache.spark.sql.execution.joins.ShuffledHashJoinExec;
import org.apache.spark.sql.execution.joins.SortMergeJoinExec;
import org.apache.spark.sql.internal.SQLConf;
import org.apache.spark.sql.types.DoubleType;
import org.apache.spark.sql.types.FloatType;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import scala.Option;
import scala.Tuple8;
import scala.collection.immutable.Seq;

import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;

/**
 * Plans equijoins of two registered tables without a shuffle, where the blocks of both can be
 * grouped by what is known about their keys: each task reads some blocks of either table, and joins
 * them by Spark's own operators. Which blocks, Python decides.
 *
 * <p>The joins are those that Spark makes of skewed partitions: they ask for no distribution, so
 * that no exchange is put below them, and nothing is claimed above.
 *
 * <p>The law: whatever is unusual or goes wrong, Spark plans the join as ever.
 */
public final class GroupedJoins extends SparkStrategy {
    private static final Logger LOG = LoggerFactory.getLogger("skipstone");

    /** The session's setting that turns joins without a shuffle on and off. */
    static final String SWITCH = "spark.skipstone.joins.grouped";

    /** How many bytes of rows a task may hash. */
    static final String HASHED = "spark.skipstone.joins.hashedBytes";

    private static final String MOST_HASHED = "67108864";

    private static final List TYPES =
            Arrays.asList(
                    new Object[] {
                        "Inner", "LeftOuter", "RightOuter", "FullOuter", "LeftSemi", "LeftAnti"
                    });

    private static final Map SENTENCES = sentences();

    private final Skipstone shim;
    private final JoinPruner pruner;
    private final ScanPruner scans;
    private volatile Function grouper;

    GroupedJoins(Skipstone shim, JoinPruner pruner, ScanPruner scans) {
        this.shim = shim;
        this.pruner = pruner;
        this.scans = scans;
    }

    /**
     * @param grouper takes a question about the blocks of two tables, answers with the blocks of
     *     each task as JSON, with a refusal
     */
    void connect(Function grouper) {
        this.grouper = grouper;
    }

    public Seq apply(LogicalPlan plan) {
        if (!(plan instanceof Join)
                || !shim.wanted()
                || !SQLConf.get().getConfString(SWITCH, "false").equalsIgnoreCase("true")) {
            return ScalaSeq.empty();
        }
        try {
            SparkPlan planned = grouped((Join) plan);
            return planned == null ? ScalaSeq.empty() : ScalaSeq.of(planned);
        } catch (VirtualMachineError fatal) {
            throw fatal;
        } catch (Throwable failure) {
            if (failure instanceof InterruptedException) {
                Thread.currentThread().interrupt();
            }
            LOG.warn("skipstone leaves a join to Spark: " + failure);
            return ScalaSeq.empty();
        }
    }

    private SparkPlan grouped(Join join) throws Exception {
        Option found = ExtractEquiJoinKeys$.MODULE$.unapply(join);
        if (found.isEmpty()) {
            return null;
        }
        Tuple8 keys = (Tuple8) found.get();
        Notes notes = notes(join, (Seq) keys._2(), (Seq) keys._3());
        if (notes == null) {
            return null;
        }
        GroupedSide left = notes.left;
        GroupedSide right = notes.right;
        String code = refused(join);
        if (code != null) {
            return notes.refuse(code, (String) SENTENCES.get(code));
        }
        if (!notes.comparable()) {
            return notes.refuse("KEY_TYPE", (String) SENTENCES.get("KEY_TYPE"));
        }
        Seq strategies = session(left).sessionState().planner().strategies();
        left.plan(strategies);
        right.plan(strategies);
        if (left.shuffled() || right.shuffled()) {
            return notes.refuse("SIDE", (String) SENTENCES.get("SIDE"));
        }
        String obstacle = left.obstacle() == null ? right.obstacle() : left.obstacle();
        obstacle = obstacle == null ? left.scanObstacle() : obstacle;
        obstacle = obstacle == null ? right.scanObstacle() : obstacle;
        if (obstacle != null) {
            return notes.refuse("SCAN", "a scan has to stay as it is: " + obstacle);
        }
        Object answer = grouper.apply(question(join, left, right));
        Object read = new ObjectMapper().readValue(String.valueOf(answer), Map.class);
        Map chosen = (Map) read;
        String sentence = String.valueOf(chosen.get("sentence"));
        if (chosen.containsKey("code")) {
            return notes.refuse(String.valueOf(chosen.get("code")), sentence);
        }
        SparkPlan planned = planned(join, keys, notes, chosen);
        notes.accept(sentence);
        return planned;
    }

    /**
     * About the first key that blocks can be grouped by, or else about one of two registered
     * tables.
     */
    private Notes notes(Join join, Seq leftKeys, Seq rightKeys) {
        Notes first = null;
        for (int i = 0; i < leftKeys.size(); i++) {
            GroupedSide left = GroupedSide.of(join.left(), (Expression) leftKeys.apply(i), pruner);
            GroupedSide right =
                    left == null
                            ? null
                            : GroupedSide.of(join.right(), (Expression) rightKeys.apply(i), pruner);
            if (right != null) {
                Notes notes = new Notes(join, left, right, leftKeys, rightKeys, i);
                if (notes.comparable()) {
                    return notes;
                }
                first = first == null ? notes : first;
            }
        }
        return first;
    }

    private static Map sentences() {
        Map out = new HashMap();
        out.put("BROADCASTS", "Spark broadcasts one side, which costs less");
        out.put("HINT", "a hint says how to join");
        out.put("JOIN_TYPE", "joins of this type are left alone");
        out.put("KEY_TYPE", "no key is a column of both tables that has an order");
        out.put("SIDE", "a side is more than a scan and what is broadcast to it");
        return out;
    }

    /** The code of what speaks against a join of this kind; null if nothing does. */
    private static String refused(Join join) {
        if (!TYPES.contains(join.joinType().toString())) {
            return "JOIN_TYPE";
        }
        if (hinted(join.hint().leftHint()) || hinted(join.hint().rightHint())) {
            return "HINT";
        }
        Option broadcast =
                InjectRuntimeFilter$.MODULE$.getBroadcastBuildSide(join, false, SQLConf.get());
        return broadcast.isDefined() ? "BROADCASTS" : null;
    }

    private static boolean hinted(Option hint) {
        return hint.isDefined() && ((HintInfo) hint.get()).strategy().isDefined();
    }

    private static SparkSession session(GroupedSide side) {
        Option active = org.apache.spark.sql.SparkSession.getActiveSession();
        return (SparkSession)
                (active.isDefined()
                        ? active.get()
                        : ((HadoopFsRelation) side.scan.relation()).sparkSession());
    }

    private static String question(Join join, GroupedSide left, GroupedSide right)
            throws Exception {
        String type = join.joinType().toString();
        boolean full = type.equals("FullOuter");
        boolean keepsRight = full || type.equals("RightOuter");
        boolean keepsLeft = !keepsRight && !type.equals("Inner") || full;
        return "{\"left\":"
                + left.question()
                + ",\"right\":"
                + right.question()
                + ",\"keeps\":["
                + keepsLeft
                + ","
                + keepsRight
                + "],\"may_hash\":["
                + InjectRuntimeFilter$.MODULE$.canBuildShuffledHashJoinLeft(join.joinType())
                + ","
                + InjectRuntimeFilter$.MODULE$.canBuildShuffledHashJoinRight(join.joinType())
                + "],\"cores\":"
                + session(left).sparkContext().defaultParallelism()
                + ",\"hashed\":"
                + SQLConf.get().getConfString(HASHED, MOST_HASHED)
                + "}";
    }

    private static SparkPlan planned(Join join, Tuple8 keys, Notes notes, Map chosen)
            throws Exception {
        SparkPlan[] sides = new SparkPlan[2];
        for (int i = 0; i < 2; i++) {
            GroupedSide side = i == 0 ? notes.left : notes.right;
            fill(side.tasks(), (List) chosen.get(i == 0 ? "left" : "right"));
            sides[i] = side.withTasks();
            if (Boolean.TRUE.equals(((List) chosen.get("ranged")).get(i))) {
                Attribute key = notes.key(i == 0);
                KeyRanges ranges = new KeyRanges(key.dataType(), (List) chosen.get("ranges"));
                sides[i] = new FilterExec(ranges.of(key), sides[i]);
            }
        }
        Option condition = (Option) keys._4();
        String hashed = String.valueOf(chosen.get("hashed"));
        if (hashed.equals("none")) {
            return new SortMergeJoinExec(
                    notes.leftKeys,
                    notes.rightKeys,
                    join.joinType(),
                    condition,
                    sides[0],
                    sides[1],
                    true);
        }
        BuildSide build =
                hashed.equals("left")
                        ? (BuildSide) BuildLeft$.MODULE$
                        : (BuildSide) BuildRight$.MODULE$;
        return new ShuffledHashJoinExec(
                notes.leftKeys,
                notes.rightKeys,
                join.joinType(),
                build,
                condition,
                sides[0],
                sides[1],
                true);
    }

    private static void fill(FileTasks tasks, List groups) {
        for (int i = 0; i < groups.size(); i++) {
            tasks.begin();
            List files = (List) groups.get(i);
            for (int j = 0; j < files.size(); j++) {
                tasks.read(((Number) files.get(j)).intValue());
            }
        }
    }

    /** What is said about a join, on the scans of both sides. */
    final class Notes {
        final Join join;
        final GroupedSide left;
        final GroupedSide right;
        final Seq leftKeys;
        final Seq rightKeys;
        private final int place;

        Notes(
                Join join,
                GroupedSide left,
                GroupedSide right,
                Seq leftKeys,
                Seq rightKeys,
                int place) {
            this.join = join;
            this.left = left;
            this.right = right;
            this.leftKeys = leftKeys;
            this.rightKeys = rightKeys;
            this.place = place;
        }

        /** Whether the key is a column of both tables, of one type that has an order. */
        boolean comparable() {
            return left.column != null
                    && right.column != null
                    && left.column.dataType().equals(right.column.dataType())
                    && KeyPredicate.supports(left.column.dataType())
                    && !(left.column.dataType() instanceof FloatType)
                    && !(left.column.dataType() instanceof DoubleType);
        }

        /** The key as a column of a side. */
        Attribute key(boolean ofLeft) {
            return (Attribute) (ofLeft ? leftKeys : rightKeys).apply(place);
        }

        /** Returns null, for what is refused. */
        SparkPlan refuse(String code, String sentence) {
            say(code, "Spark joins as ever: " + sentence);
            return null;
        }

        void accept(String sentence) {
            say("GROUPED", sentence);
        }

        private void say(String code, String sentence) {
            for (int i = 0; i < 2; i++) {
                GroupedSide side = i == 0 ? left : right;
                JoinSide view = new JoinSide(join, i == 0, leftKeys, rightKeys);
                JoinTarget target = JoinTarget.find((Expression) view.keys.apply(place), side.plan);
                if (target != null) {
                    JoinNote note = new JoinNote(target, view, place);
                    note.decide(code, sentence);
                    scans.addJoin(target.scan, note);
                }
            }
        }
    }
}
