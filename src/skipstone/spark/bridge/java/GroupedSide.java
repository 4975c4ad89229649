package skipstone;

import org.apache.hadoop.fs.FileStatus;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.optimizer.BuildRight$;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.statsEstimation.EstimationUtils;
import org.apache.spark.sql.execution.FileSourceScanExec;
import org.apache.spark.sql.execution.FilterExec;
import org.apache.spark.sql.execution.PlanLater;
import org.apache.spark.sql.execution.ProjectExec;
import org.apache.spark.sql.execution.SparkPlan;
import org.apache.spark.sql.execution.SparkStrategy;
import org.apache.spark.sql.execution.datasources.HadoopFsRelation;
import org.apache.spark.sql.execution.datasources.LogicalRelation;
import org.apache.spark.sql.execution.joins.BroadcastHashJoinExec;

import scala.collection.Iterator;
import scala.collection.immutable.Seq;

import java.util.ArrayList;
import java.util.List;

/**
 * One side of a join without a shuffle: a scan of a registered table below filters, columns, and
 * joins with what is broadcast. None of these moves a row to another task, and each row that comes
 * out has the key of one row of the scan.
 */
final class GroupedSide {
    final LogicalPlan plan;
    final LogicalRelation scan;

    /** The key as a column of the table; null if it is anything else. */
    final Attribute column;

    private final JoinPruner.Known known;
    private final List way;
    private SparkPlan planned;
    private FileSourceScanExec node;
    private FileTasks tasks;

    private GroupedSide(
            LogicalPlan plan, JoinTarget target, Expression key, JoinPruner.Known known) {
        this.plan = plan;
        this.scan = target.scan;
        this.way = target.wayFrom(0);
        this.known = known;
        this.column =
                key instanceof Attribute
                                && target.key instanceof Attribute
                                && !JoinTarget.byPartition(target.key, scan)
                        ? (Attribute) target.key
                        : null;
    }

    /** Null if the key comes from no scan of a registered table. */
    static GroupedSide of(LogicalPlan plan, Expression key, JoinPruner pruner) {
        JoinTarget target = JoinTarget.find(key, plan);
        JoinPruner.Known known =
                target == null ? null : pruner.known((HadoopFsRelation) target.scan.relation());
        return known == null ? null : new GroupedSide(plan, target, key, known);
    }

    /** Why its scan has to stay as it is; null if it has not. */
    String obstacle() {
        if (known.adapter.isWriting()) {
            return "a transaction keeps account of what it reads";
        }
        return FilePaths.inPlan(plan) || FilePaths.inOutput(scan)
                ? "the query asks for the names or the metadata of files"
                : null;
    }

    /**
     * Plans the side as Spark or Delta does. Whether that can be used, {@link #shuffled} and {@link
     * #scanObstacle} say.
     */
    void plan(Seq strategies) {
        // The way begins with the side itself.
        planned = planned(plan, 1, strategies);
        Object leaf = planned == null ? null : scanIn(planned);
        node = leaf instanceof FileSourceScanExec ? (FileSourceScanExec) leaf : null;
    }

    /** Whether an operator above the scan moves rows to other tasks, or is none that is known. */
    boolean shuffled() {
        return planned == null;
    }

    /**
     * Why the scan that was planned cannot have tasks of ours, whose files are listed if it can.
     */
    String scanObstacle() {
        if (node == null) {
            return "Spark plans it as no scan of files";
        }
        String obstacle = PartitionedScan.obstacle(node);
        if (obstacle == null) {
            tasks = new FileTasks(node.selectedPartitions());
        }
        return obstacle;
    }

    /** Null if something on the way to the scan moves rows. */
    private SparkPlan planned(LogicalPlan at, int depth, Seq strategies) {
        SparkPlan out = byOthers(at, strategies);
        if (out != null && DynamicStrategy.scanOf(at) != scan) {
            Object next = at.children().apply(((Integer) way.get(depth)).intValue());
            SparkPlan later = later(out, next);
            SparkPlan below =
                    later == null ? null : planned((LogicalPlan) next, depth + 1, strategies);
            out = below == null ? null : put(below, later, out);
        }
        if (out != null) {
            out.setLogicalLink(at);
        }
        return out;
    }

    private static SparkPlan put(SparkPlan plan, SparkPlan place, SparkPlan into) {
        return (SparkPlan) new PartitionedScan.Replace(place, plan).apply(into);
    }

    private static SparkPlan byOthers(LogicalPlan at, Seq strategies) {
        Iterator each = strategies.iterator();
        while (each.hasNext()) {
            Object strategy = each.next();
            if (!(strategy instanceof GroupedJoins)) {
                Seq found = (Seq) ((SparkStrategy) strategy).apply(at);
                if (found.nonEmpty()) {
                    return (SparkPlan) found.head();
                }
            }
        }
        return null;
    }

    /** Where operators get the plan of their child later; null if one of them moves its rows. */
    private static SparkPlan later(SparkPlan plan, Object child) {
        if (plan instanceof PlanLater) {
            return ((PlanLater) plan).plan() == child ? plan : null;
        }
        SparkPlan streamed = streamed(plan);
        return streamed == null ? null : later(streamed, child);
    }

    /** The child whose rows an operator hands on where they are; null if it is not known to. */
    private static SparkPlan streamed(SparkPlan plan) {
        if (plan instanceof ProjectExec || plan instanceof FilterExec) {
            Object child = plan.children().head();
            return (SparkPlan) child;
        }
        if (plan instanceof BroadcastHashJoinExec) {
            boolean left = ((BroadcastHashJoinExec) plan).buildSide() == BuildRight$.MODULE$;
            Object child = plan.children().apply(left ? 0 : 1);
            return (SparkPlan) child;
        }
        return null;
    }

    /** The only leaf that rows come from; null if there are several. */
    private static SparkPlan scanIn(SparkPlan plan) {
        if (plan.children().isEmpty()) {
            return plan;
        }
        SparkPlan below = streamed(plan);
        return below == null ? null : scanIn(below);
    }

    /** What Python is asked about the side. */
    String question() throws Exception {
        List keys = new ArrayList();
        keys.add(column);
        StringBuilder entries = new StringBuilder("[");
        StringBuilder sizes = new StringBuilder("[");
        for (int i = 0; i < tasks.files(); i++) {
            FileStatus file = tasks.file(i).fileStatus();
            entries.append(i == 0 ? "" : ",")
                    .append(known.adapter.entry(known.relation, known.table, file));
            sizes.append(i == 0 ? "" : ",").append(file.getLen());
        }
        HadoopFsRelation relation = known.relation;
        return "{\"question\":"
                + ScanQuestion.json(
                        known.table,
                        relation,
                        keys,
                        known.adapter.schema(relation, known.table),
                        null)
                + ",\"entries\":"
                + entries
                + "],\"sizes\":"
                + sizes
                + "],\"row_bytes\":"
                + EstimationUtils.getSizePerRow(
                        plan.output(), EstimationUtils.getSizePerRow$default$2())
                + "}";
    }

    FileTasks tasks() {
        return tasks;
    }

    /** The side's plan with the tasks that were chosen. */
    SparkPlan withTasks() {
        return PartitionedScan.in(planned, node, tasks);
    }
}
