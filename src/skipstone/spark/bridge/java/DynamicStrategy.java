package skipstone;

import org.apache.spark.sql.catalyst.expressions.And;
import org.apache.spark.sql.catalyst.expressions.DynamicPruningSubquery;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.plans.logical.Filter;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.Project;
import org.apache.spark.sql.classic.SparkSession;
import org.apache.spark.sql.execution.FileSourceScanExec;
import org.apache.spark.sql.execution.SparkPlan;
import org.apache.spark.sql.execution.SparkStrategy;
import org.apache.spark.sql.execution.datasources.HadoopFsRelation;
import org.apache.spark.sql.execution.datasources.LogicalRelation;

import scala.Option;
import scala.collection.Iterator;
import scala.collection.immutable.Seq;
import scala.collection.mutable.ListBuffer;
import scala.runtime.AbstractFunction1;

import java.util.ArrayList;
import java.util.List;

/**
 * Plans scans whose files are chosen at run time. The filters for that are taken out, Spark's or
 * Delta's own strategy plans what is left, and the scan in it becomes a {@link DynamicScan} with
 * these filters. They are never evaluated on rows: Spark does not send their results to executors.
 */
public final class DynamicStrategy extends SparkStrategy {
    private final JoinPruner pruner;

    DynamicStrategy(JoinPruner pruner) {
        this.pruner = pruner;
    }

    public Seq apply(LogicalPlan plan) {
        LogicalRelation scan = scanOf(plan);
        if (scan == null) {
            return ScalaSeq.empty();
        }
        ListBuffer dynamic = new ListBuffer();
        LogicalPlan rest = without(plan, scan, dynamic);
        if (dynamic.isEmpty()) {
            return ScalaSeq.empty();
        }
        HadoopFsRelation relation = (HadoopFsRelation) scan.relation();
        Option active = org.apache.spark.sql.SparkSession.getActiveSession();
        SparkSession session =
                (SparkSession) (active.isEmpty() ? relation.sparkSession() : active.get());
        Iterator others = session.sessionState().planner().strategies().iterator();
        while (others.hasNext()) {
            Object other = others.next();
            if (!(other instanceof DynamicStrategy) && !(other instanceof GroupStrategy)) {
                Seq found = (Seq) ((SparkStrategy) other).apply(rest);
                if (found.nonEmpty()) {
                    SparkPlan first = (SparkPlan) found.head();
                    Object made = new Replace(pruner, dynamic.toList()).apply(first);
                    return ScalaSeq.of(made);
                }
            }
        }
        throw new IllegalStateException("no strategy plans " + rest);
    }

    /** The scan below projections and filters. */
    static LogicalRelation scanOf(LogicalPlan plan) {
        LogicalPlan below = plan;
        while (below instanceof Project || below instanceof Filter) {
            Object child = below.children().head();
            below = (LogicalPlan) child;
        }
        return below instanceof LogicalRelation
                        && ((LogicalRelation) below).relation() instanceof HadoopFsRelation
                ? (LogicalRelation) below
                : null;
    }

    private LogicalPlan without(LogicalPlan plan, LogicalRelation scan, ListBuffer dynamic) {
        if (plan instanceof Project) {
            Project project = (Project) plan;
            LogicalPlan child = without(project.child(), scan, dynamic);
            return child == project.child() ? plan : new Project(project.projectList(), child);
        }
        if (!(plan instanceof Filter)) {
            return plan;
        }
        Filter filter = (Filter) plan;
        LogicalPlan child = without(filter.child(), scan, dynamic);
        List conjuncts = new ArrayList();
        ScanQuestion.split(filter.condition(), conjuncts);
        Expression left = null;
        boolean same = child == filter.child();
        for (int i = 0; i < conjuncts.size(); i++) {
            Expression conjunct = (Expression) conjuncts.get(i);
            if (conjunct instanceof DynamicPruningSubquery
                    && JoinTarget.ofFiles((DynamicPruningSubquery) conjunct, scan)) {
                dynamic.addOne(conjunct);
                same = false;
            } else {
                left = left == null ? conjunct : new And(left, conjunct);
            }
        }
        return same ? plan : left == null ? child : new Filter(left, child);
    }

    /** Replaces Spark's scan. */
    static final class Replace extends AbstractFunction1 {
        private final JoinPruner pruner;
        private final Seq dynamic;

        Replace(JoinPruner pruner, Seq dynamic) {
            this.pruner = pruner;
            this.dynamic = dynamic;
        }

        public Object apply(Object node) {
            return node instanceof FileSourceScanExec
                    ? DynamicScan.of((FileSourceScanExec) node, dynamic, pruner)
                    : ((SparkPlan) node).mapChildren(this);
        }
    }
}
