package skipstone;

import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.expressions.BloomFilterMightContain;
import org.apache.spark.sql.catalyst.expressions.DynamicPruningExpression;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.plans.logical.EmptyRelation;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.execution.ColumnarToRowExec;
import org.apache.spark.sql.execution.EmptyRelationExec;
import org.apache.spark.sql.execution.FileSourceScanExec;
import org.apache.spark.sql.execution.FilterExec;
import org.apache.spark.sql.execution.InputAdapter;
import org.apache.spark.sql.execution.LimitExec;
import org.apache.spark.sql.execution.ProjectExec;
import org.apache.spark.sql.execution.SparkPlan;
import org.apache.spark.sql.execution.WholeStageCodegenExec;
import org.apache.spark.sql.execution.adaptive.AdaptiveSparkPlanExec;
import org.apache.spark.sql.execution.adaptive.LogicalQueryStage;
import org.apache.spark.sql.execution.adaptive.QueryStageExec;
import org.apache.spark.sql.execution.datasources.HadoopFsRelation;
import org.apache.spark.sql.execution.exchange.Exchange;
import org.apache.spark.sql.execution.metric.SQLMetric;
import org.apache.spark.sql.execution.ui.SparkListenerSQLExecutionEnd;

import scala.Option;
import scala.collection.Iterator;

import java.util.ArrayList;
import java.util.IdentityHashMap;
import java.util.List;

/**
 * One walk over the plan of a finished query, which makes a line of JSON of each scan. Scans that
 * another part of the plan reuses are made once.
 */
final class FinishedQuery {
    private final LoggedScans scans;
    private final SpillQueue lines;
    private final String origin;
    private final SparkListenerSQLExecutionEnd end;
    private final IdentityHashMap seen = new IdentityHashMap();
    private LoggedJoins joins;

    FinishedQuery(
            LoggedScans scans, SpillQueue lines, String origin, SparkListenerSQLExecutionEnd end) {
        this.scans = scans;
        this.lines = lines;
        this.origin = origin;
        this.end = end;
    }

    /** Adds a line for each scan. */
    void record(SparkPlan plan) {
        try {
            joins = scans.joins(end.qe().optimizedPlan());
        } catch (Exception problem) {
            lines.report("the joins of a query could not be described", problem);
        }
        down(plan, new ArrayList(), false);
    }

    private void down(SparkPlan plan, List filters, boolean limited) {
        if (seen.put(plan, plan) != null) {
            return;
        }
        Iterator subqueries = plan.subqueries().iterator();
        while (subqueries.hasNext()) {
            down((SparkPlan) subqueries.next(), new ArrayList(), false);
        }
        if (plan instanceof FileSourceScanExec) {
            try {
                record((FileSourceScanExec) plan, filters, limited);
            } catch (Exception problem) {
                lines.drop("a scan could not be described", problem, 1);
            }
        } else if (plan instanceof AdaptiveSparkPlanExec) {
            down(((AdaptiveSparkPlanExec) plan).executedPlan(), filters, limited);
        } else if (plan instanceof QueryStageExec) {
            down(((QueryStageExec) plan).plan(), new ArrayList(), false);
        } else if (plan instanceof EmptyRelationExec) {
            within(((EmptyRelationExec) plan).logical());
        } else {
            List above = new ArrayList();
            if (plan instanceof FilterExec
                    || plan instanceof ProjectExec
                    || plan instanceof ColumnarToRowExec
                    || plan instanceof WholeStageCodegenExec
                    || plan instanceof InputAdapter) {
                above.addAll(filters);
            }
            if (plan instanceof FilterExec) {
                above.add(plan);
            }
            // An exchange takes in all of its input; without one in between, a limit may stop a
            // scan early.
            boolean below = !(plan instanceof Exchange) && (limited || plan instanceof LimitExec);
            Iterator children = plan.children().iterator();
            while (children.hasNext()) {
                down((SparkPlan) children.next(), above, below);
            }
        }
    }

    /**
     * A part that was left out once it was known to be empty: the stages that showed it have run.
     */
    private void within(LogicalPlan plan) {
        if (plan instanceof LogicalQueryStage) {
            SparkPlan stage = ((LogicalQueryStage) plan).physicalPlan();
            if (!(stage instanceof QueryStageExec) || ((QueryStageExec) stage).isMaterialized()) {
                down(stage, new ArrayList(), false);
            }
        } else if (plan instanceof EmptyRelation) {
            within(((EmptyRelation) plan).logical());
        }
        Iterator children = plan.children().iterator();
        while (children.hasNext()) {
            within((LogicalPlan) children.next());
        }
    }

    private void record(FileSourceScanExec scan, List filters, boolean limited) throws Exception {
        GroupedScan grouped = null;
        if (scan.relation().location() instanceof GroupFiles) {
            grouped = ((GroupFiles) scan.relation().location()).logged;
            if (grouped == null) {
                return;
            }
        }
        FileSourceScanExec asker = grouped == null ? scan : grouped.scan;
        List conjuncts = new ArrayList();
        Iterator partitions = asker.partitionFilters().iterator();
        while (partitions.hasNext()) {
            addAsked((Expression) partitions.next(), asker, conjuncts);
        }
        for (int i = 0; grouped == null && i < filters.size(); i++) {
            addAsked(((FilterExec) filters.get(i)).condition(), asker, conjuncts);
        }
        for (int i = 0; grouped != null && i < grouped.conditions.size(); i++) {
            addAsked((Expression) grouped.conditions.get(i), asker, conjuncts);
        }
        boolean writing =
                end.executionName().isDefined()
                        && end.executionName().get().equals("deltaTransactionalWrite");
        HadoopFsRelation relation = grouped == null ? scan.relation() : grouped.relation;
        String partners = joins == null ? null : joins.of(asker.output());
        String asked = scans.describe(relation, conjuncts, writing, partners);
        if (asked == null) {
            return;
        }
        StringBuilder columns = new StringBuilder();
        Iterator output = asker.output().iterator();
        while (output.hasNext()) {
            String name = ((Attribute) output.next()).name();
            columns.append(columns.length() == 0 ? "" : ",").append(JsonText.quote(name));
        }
        long files = metric(scan, "numFiles");
        long bytes = metric(scan, "filesSize");
        if (files <= 0L || bytes <= 0L) {
            // A plan that runs again keeps its list of files, but not the metrics of the first run.
            files = scan.selectedPartitions().totalNumberOfFiles();
            bytes = scan.selectedPartitions().totalFileSize();
        }
        if (grouped != null) {
            files = grouped.files;
            bytes = grouped.bytes;
        }
        long rows = metric(scan, "numOutputRows");
        long needed =
                filters.isEmpty() ? rows : metric((SparkPlan) filters.get(0), "numOutputRows");
        // Of the rows that a filter leaves, nobody counted those that survive the joins.
        boolean unknown = limited || grouped != null || partners != null;
        lines.add(
                "{"
                        + asked
                        + ",\"columns\":["
                        + columns
                        + "],\"files_read\":"
                        + files
                        + ",\"bytes_read\":"
                        + bytes
                        + ",\"rows_read\":"
                        + rows
                        + ",\"rows_needed\":"
                        + (unknown ? "null" : Long.toString(needed))
                        + ",\"started\":"
                        + (end.time() - end.duration() / 1000000L)
                        + ",\"seconds\":"
                        + end.duration() / 1e9
                        + origin
                        + "}");
    }

    /**
     * The conjuncts that people asked of this table: none that Spark derives from a join or Delta
     * counts rows by.
     */
    private static void addAsked(Expression condition, FileSourceScanExec scan, List out) {
        List found = new ArrayList();
        ScanQuestion.split(condition, found);
        for (int i = 0; i < found.size(); i++) {
            Expression conjunct = (Expression) found.get(i);
            boolean derived =
                    conjunct instanceof DynamicPruningExpression
                            || conjunct instanceof BloomFilterMightContain
                            || conjunct.references().isEmpty();
            Iterator references = conjunct.references().iterator();
            while (references.hasNext()) {
                derived |= ((Attribute) references.next()).name().startsWith("__delta_internal");
            }
            if (!derived && conjunct.references().subsetOf(scan.outputSet())) {
                out.add(conjunct);
            }
        }
    }

    private static long metric(SparkPlan plan, String name) {
        Option found = plan.metrics().get(name);
        return found.isEmpty() ? 0L : ((SQLMetric) found.get())._value();
    }
}
