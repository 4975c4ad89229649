package skipstone;

import org.apache.hadoop.fs.FileStatus;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.expressions.DynamicPruning;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.plans.logical.Filter;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.Project;
import org.apache.spark.sql.catalyst.plans.logical.statsEstimation.EstimationUtils;
import org.apache.spark.sql.execution.FileSourceScanExec;
import org.apache.spark.sql.execution.SparkPlan;
import org.apache.spark.sql.execution.SparkStrategy;
import org.apache.spark.sql.execution.datasources.HadoopFsRelation;
import org.apache.spark.sql.execution.datasources.LogicalRelation;

import scala.collection.Iterator;
import scala.collection.immutable.Seq;

import java.util.ArrayList;
import java.util.List;

/** One side of a join without a shuffle: a scan of a registered table below filters and columns. */
final class GroupedSide {
    final LogicalPlan plan;
    final LogicalRelation scan;
    private final JoinPruner.Known known;
    private SparkPlan planned;
    private FileSourceScanExec node;
    private FileTasks tasks;

    private GroupedSide(LogicalPlan plan, LogicalRelation scan, JoinPruner.Known known) {
        this.plan = plan;
        this.scan = scan;
        this.known = known;
    }

    /** Null if the side is anything else. */
    static GroupedSide of(LogicalPlan plan, JoinPruner pruner) {
        LogicalPlan below = plan;
        while (below instanceof Project || below instanceof Filter) {
            Object child = below.children().head();
            below = (LogicalPlan) child;
        }
        if (!(below instanceof LogicalRelation)
                || below.isStreaming()
                || !(((LogicalRelation) below).relation() instanceof HadoopFsRelation)) {
            return null;
        }
        LogicalRelation scan = (LogicalRelation) below;
        JoinPruner.Known known = pruner.known((HadoopFsRelation) scan.relation());
        return known == null ? null : new GroupedSide(plan, scan, known);
    }

    /** Why its scan has to stay as it is; null if it has not. */
    String obstacle() {
        if (known.adapter.isWriting()) {
            return "a transaction keeps account of what it reads";
        }
        if (FilePaths.inPlan(plan) || FilePaths.inOutput(scan)) {
            return "the query asks for the names or the metadata of files";
        }
        return prunedAtRunTime(plan) ? "files are skipped by the keys of a join" : null;
    }

    private static boolean prunedAtRunTime(LogicalPlan plan) {
        LogicalPlan below = plan;
        while (!(below instanceof LogicalRelation)) {
            if (below instanceof Filter && dynamic(((Filter) below).condition())) {
                return true;
            }
            Object child = below.children().head();
            below = (LogicalPlan) child;
        }
        return false;
    }

    private static boolean dynamic(Expression condition) {
        List conjuncts = new ArrayList();
        ScanQuestion.split(condition, conjuncts);
        for (int i = 0; i < conjuncts.size(); i++) {
            if (conjuncts.get(i) instanceof DynamicPruning) {
                return true;
            }
        }
        return false;
    }

    /** A key as a column of the table; null if it is anything else. */
    Attribute column(Expression key) {
        JoinTarget target = JoinTarget.find(key, plan);
        return target != null
                        && target.scan == scan
                        && target.key instanceof Attribute
                        && key instanceof Attribute
                        && !JoinTarget.byPartition(target.key, scan)
                ? (Attribute) target.key
                : null;
    }

    /** Plans the side as Spark or Delta does, and lists its files; says why that cannot be used. */
    String plan(Seq strategies) {
        Iterator each = strategies.iterator();
        while (planned == null && each.hasNext()) {
            Object strategy = each.next();
            if (!(strategy instanceof GroupedJoins)) {
                Seq found = (Seq) ((SparkStrategy) strategy).apply(plan);
                planned = found.isEmpty() ? null : (SparkPlan) found.head();
            }
        }
        Seq leaves = planned == null ? ScalaSeq.empty() : planned.collectLeaves();
        if (leaves.size() != 1 || !(leaves.head() instanceof FileSourceScanExec)) {
            return "Spark plans it as no scan of files";
        }
        planned.setLogicalLink(plan);
        node = (FileSourceScanExec) leaves.head();
        String obstacle = PartitionedScan.obstacle(node);
        if (obstacle == null) {
            tasks = new FileTasks(node.selectedPartitions());
        }
        return obstacle;
    }

    /** What Python is asked about the side. */
    String question(Attribute key) throws Exception {
        List keys = new ArrayList();
        keys.add(key);
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
