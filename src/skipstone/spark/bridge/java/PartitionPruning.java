package skipstone;

import org.apache.spark.sql.catalyst.expressions.DynamicPruningSubquery;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.trees.TreePattern;

import scala.runtime.AbstractFunction1;

/**
 * Spark prunes partitions by a copy of a join's other side, and only if that copy is what is
 * broadcast for the join. So what changes in the side changes in its copies.
 */
final class PartitionPruning extends AbstractFunction1 {
    private static final scala.Enumeration.Value PRUNING = TreePattern.DYNAMIC_PRUNING_SUBQUERY();

    private final LogicalPlan before;
    private final LogicalPlan after;

    private PartitionPruning(LogicalPlan before, LogicalPlan after) {
        this.before = before;
        this.after = after;
    }

    /** One side of a join, of whose other side was made another plan. */
    static LogicalPlan follow(LogicalPlan side, LogicalPlan before, LogicalPlan after) {
        return before == after || !side.containsPattern(PRUNING)
                ? side
                : (LogicalPlan) new PartitionPruning(before, after).apply(side);
    }

    public Object apply(Object node) {
        if (node instanceof LogicalPlan) {
            LogicalPlan plan = (LogicalPlan) node;
            if (!plan.containsPattern(PRUNING)) {
                return plan;
            }
            Object children = plan.mapChildren(this);
            return ((LogicalPlan) children).mapExpressions(this);
        }
        if (node instanceof DynamicPruningSubquery) {
            DynamicPruningSubquery pruning = (DynamicPruningSubquery) node;
            return pruning.buildQuery().sameResult(before) ? pruning.withNewPlan(after) : pruning;
        }
        return ((Expression) node).mapChildren(this);
    }
}
