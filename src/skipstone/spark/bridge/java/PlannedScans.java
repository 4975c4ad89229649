package skipstone;

import org.apache.spark.sql.catalyst.expressions.And;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.plans.logical.Filter;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.trees.TreePattern;
import org.apache.spark.sql.classic.Dataset;
import org.apache.spark.sql.classic.SparkSession;
import org.apache.spark.sql.execution.CommandExecutionMode;
import org.apache.spark.sql.execution.QueryExecution;
import org.apache.spark.sql.execution.datasources.HadoopFsRelation;

import java.util.ArrayList;
import java.util.List;

/** What was decided about the scans of a query, for explain and replay. */
final class PlannedScans {
    private PlannedScans() {}

    /** Optimizes the plan of a query anew and returns what was decided about its scans. */
    static List of(ScanPruner pruner, Dataset frame) {
        List scans = new ArrayList();
        pruner.startReport(scans);
        try {
            SparkSession session = frame.sparkSession();
            QueryExecution execution =
                    session.sessionState()
                            .executePlan(
                                    frame.queryExecution().logical(), CommandExecutionMode.SKIP());
            execution.optimizedPlan();
            if (mayBeGrouped(execution.optimizedPlan(), session) || mayReadGroups(scans)) {
                // Whether a join needs a shuffle and which column groups are read is decided when
                // operators are chosen.
                execution.sparkPlan();
            }
        } finally {
            pruner.endReport();
        }
        return scans;
    }

    private static boolean mayReadGroups(List scans) {
        for (int i = 0; i < scans.size(); i++) {
            if (((DecidedScan) scans.get(i)).mayReadGroups) {
                return true;
            }
        }
        return false;
    }

    private static boolean mayBeGrouped(LogicalPlan plan, SparkSession session) {
        String grouped = session.sessionState().conf().getConfString(GroupedJoins.SWITCH, "false");
        return grouped.equalsIgnoreCase("true") && plan.containsPattern(TreePattern.JOIN());
    }

    /**
     * How many rows of a scan satisfy its filter; conditions that depend on other plans are left
     * out.
     */
    static long rowsNeeded(DecidedScan record) {
        List conjuncts = new ArrayList();
        ScanQuestion.split(record.condition, conjuncts);
        Expression condition = null;
        for (int i = 0; i < conjuncts.size(); i++) {
            Expression conjunct = (Expression) conjuncts.get(i);
            if (conjunct.deterministic() && !ScanQuestion.hasPlan(conjunct)) {
                condition = condition == null ? conjunct : new And(condition, conjunct);
            }
        }
        LogicalPlan plan =
                condition == null ? record.relation : new Filter(condition, record.relation);
        SparkSession session =
                (SparkSession) ((HadoopFsRelation) record.relation.relation()).sparkSession();
        return Dataset.ofRows(session, plan).count();
    }
}
