package skipstone;

import org.apache.spark.sql.catalyst.expressions.DynamicPruning;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.IsNotNull;
import org.apache.spark.sql.catalyst.expressions.OuterReference;
import org.apache.spark.sql.catalyst.expressions.PlanExpression;
import org.apache.spark.sql.catalyst.expressions.UserDefinedExpression;
import org.apache.spark.sql.catalyst.expressions.aggregate.AggregateExpression;
import org.apache.spark.sql.catalyst.expressions.aggregate.AggregateFunction;
import org.apache.spark.sql.catalyst.expressions.aggregate.Count;
import org.apache.spark.sql.catalyst.expressions.aggregate.Max;
import org.apache.spark.sql.catalyst.expressions.aggregate.Min;
import org.apache.spark.sql.catalyst.expressions.aggregate.Sum;
import org.apache.spark.sql.catalyst.plans.logical.Aggregate;
import org.apache.spark.sql.catalyst.plans.logical.Filter;
import org.apache.spark.sql.catalyst.plans.logical.Join;
import org.apache.spark.sql.catalyst.plans.logical.LocalRelation;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.OneRowRelation;
import org.apache.spark.sql.catalyst.plans.logical.Project;
import org.apache.spark.sql.catalyst.plans.logical.Range;
import org.apache.spark.sql.catalyst.plans.logical.Union;
import org.apache.spark.sql.execution.columnar.InMemoryRelation;
import org.apache.spark.sql.execution.datasources.HadoopFsRelation;
import org.apache.spark.sql.execution.datasources.LogicalRelation;
import org.apache.spark.sql.types.DoubleType;
import org.apache.spark.sql.types.FloatType;

import scala.collection.Iterator;

import java.util.ArrayList;
import java.util.List;

/**
 * Whether the rows of a join's other side are the same however often they are computed. Spark may
 * compute them for the keys and once more for the join, and keys of other rows would be wrong. A
 * LIMIT, a sample, ties in a window, sums of floating-point numbers in another order and everything
 * that is not known here may differ, so only what is known to be repeatable is allowed.
 */
final class RepeatableSide {
    private RepeatableSide() {}

    /**
     * What is not repeatable about a plan, null if it all is.
     *
     * @param twice whether it will be computed twice, and not only if Spark does not reuse what it
     *     broadcasts: files that others may overwrite are not allowed then, nor functions of users,
     *     which may be slow, or not as repeatable as they say
     */
    static String obstacle(LogicalPlan plan, boolean twice, JoinPruner pruner) {
        if (plan.isStreaming()) {
            return "it is a stream";
        }
        if (!plan.deterministic()) {
            return "it has random values";
        }
        String own = operator(plan, twice, pruner);
        if (own != null) {
            return own;
        }
        Iterator expressions = plan.expressions().iterator();
        while (expressions.hasNext()) {
            String within = within((Expression) expressions.next(), twice, pruner);
            if (within != null) {
                return within;
            }
        }
        Iterator children = plan.children().iterator();
        while (children.hasNext()) {
            String below = obstacle((LogicalPlan) children.next(), twice, pruner);
            if (below != null) {
                return below;
            }
        }
        return null;
    }

    private static String operator(LogicalPlan plan, boolean twice, JoinPruner pruner) {
        if (plan instanceof Project
                || plan instanceof Filter
                || plan instanceof Join
                || plan instanceof Union
                || plan instanceof LocalRelation
                || plan instanceof OneRowRelation
                || plan instanceof Range) {
            return null;
        }
        if (plan instanceof Aggregate) {
            Iterator results = ((Aggregate) plan).aggregateExpressions().iterator();
            while (results.hasNext()) {
                if (inexact((Expression) results.next())) {
                    return "an aggregate in it may depend on the order of rows";
                }
            }
            return null;
        }
        if (plan instanceof InMemoryRelation) {
            LogicalPlan cached = ((InMemoryRelation) plan).cacheBuilder().logicalPlan();
            return obstacle(cached, true, pruner);
        }
        if (plan instanceof LogicalRelation
                && ((LogicalRelation) plan).relation() instanceof HadoopFsRelation) {
            HadoopFsRelation files = (HadoopFsRelation) ((LogicalRelation) plan).relation();
            return pruner.changes(files, twice);
        }
        return "it has the operator " + plan.nodeName();
    }

    private static boolean inexact(Expression e) {
        if (e instanceof AggregateExpression) {
            AggregateFunction function = ((AggregateExpression) e).aggregateFunction();
            boolean exact =
                    function instanceof Count
                            || function instanceof Min
                            || function instanceof Max
                            || function instanceof Sum
                                    && !(function.dataType() instanceof DoubleType)
                                    && !(function.dataType() instanceof FloatType);
            if (!exact) {
                return true;
            }
        }
        Iterator children = e.children().iterator();
        while (children.hasNext()) {
            if (inexact((Expression) children.next())) {
                return true;
            }
        }
        return false;
    }

    private static String within(Expression e, boolean twice, JoinPruner pruner) {
        if (e instanceof OuterReference) {
            return "it depends on the query around it";
        }
        if (twice && e instanceof UserDefinedExpression) {
            return "a user's function in it would be computed twice";
        }
        if (e instanceof PlanExpression) {
            Object plan = ((PlanExpression) e).plan();
            String below =
                    plan instanceof LogicalPlan
                            ? obstacle((LogicalPlan) plan, twice, pruner)
                            : "it has a subquery";
            if (below != null) {
                return below;
            }
        }
        Iterator children = e.children().iterator();
        while (children.hasNext()) {
            String below = within((Expression) children.next(), twice, pruner);
            if (below != null) {
                return below;
            }
        }
        return null;
    }

    /** Whether something leaves out rows: a filter, or that only few rows were written down. */
    static boolean filtered(LogicalPlan plan) {
        if (plan instanceof Filter) {
            List conjuncts = new ArrayList();
            ScanQuestion.split(((Filter) plan).condition(), conjuncts);
            for (int i = 0; i < conjuncts.size(); i++) {
                // What Spark prunes by is derived from joins, perhaps from this one.
                if (!(conjuncts.get(i) instanceof IsNotNull)
                        && !(conjuncts.get(i) instanceof DynamicPruning)) {
                    return true;
                }
            }
        }
        if (plan instanceof LocalRelation) {
            return true;
        }
        if (plan instanceof InMemoryRelation) {
            return filtered(((InMemoryRelation) plan).cacheBuilder().logicalPlan());
        }
        Iterator children = plan.children().iterator();
        while (children.hasNext()) {
            if (filtered((LogicalPlan) children.next())) {
                return true;
            }
        }
        return false;
    }
}
