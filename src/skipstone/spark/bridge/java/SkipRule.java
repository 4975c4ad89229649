package skipstone;

import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.PlanExpression;
import org.apache.spark.sql.catalyst.plans.logical.Filter;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.rules.Rule;
import org.apache.spark.sql.catalyst.trees.TreeNode;
import org.apache.spark.sql.catalyst.trees.TreePattern;
import org.apache.spark.sql.execution.datasources.LogicalRelation;

import scala.runtime.AbstractFunction1;

/**
 * The optimizer rule: finds the filtered scans of a plan and its subqueries, and has them pruned.
 */
public final class SkipRule extends Rule {
    private static final scala.Enumeration.Value SUBQUERY = TreePattern.PLAN_EXPRESSION();

    private final Skipstone shim;
    private final ScanPruner pruner;

    SkipRule(Skipstone shim, ScanPruner pruner) {
        this.shim = shim;
        this.pruner = pruner;
    }

    public TreeNode apply(TreeNode plan) {
        if (!shim.wanted()) {
            return plan;
        }
        return new Pass(pruner, !FilePaths.inPlan((LogicalPlan) plan)).rewrite((LogicalPlan) plan);
    }

    /** One look at a whole plan. */
    static final class Pass {
        private final ScanPruner pruner;

        /** Whether files of replicas may be read in place of the base files. */
        private final boolean anyCopy;

        Pass(ScanPruner pruner, boolean anyCopy) {
            this.pruner = pruner;
            this.anyCopy = anyCopy;
        }

        /**
         * Delta prepares the scans of subqueries only with those of the query around them, so both
         * are looked at.
         */
        LogicalPlan rewrite(LogicalPlan plan) {
            LogicalPlan done = rewriteScans(plan);
            if (!done.containsPattern(SUBQUERY)) {
                return done;
            }
            Object mapped = done.mapExpressions(new Inside(this));
            return (LogicalPlan) mapped;
        }

        private LogicalPlan rewriteScans(LogicalPlan plan) {
            if (plan instanceof Filter) {
                Filter filter = (Filter) plan;
                if (filter.child() instanceof LogicalRelation) {
                    LogicalRelation scan = (LogicalRelation) filter.child();
                    LogicalRelation pruned = pruner.prune(scan, filter.condition(), anyCopy);
                    return pruned == scan ? plan : new Filter(filter.condition(), pruned);
                }
            }
            if (plan instanceof LogicalRelation && anyCopy) {
                return pruner.prune((LogicalRelation) plan, null, true);
            }
            Object mapped = plan.mapChildren(new Down(this));
            return (LogicalPlan) mapped;
        }
    }

    static final class Down extends AbstractFunction1 {
        private final Pass rule;

        Down(Pass rule) {
            this.rule = rule;
        }

        public Object apply(Object node) {
            return rule.rewrite((LogicalPlan) node);
        }
    }

    /** Looks for subqueries inside an expression. */
    static final class Inside extends AbstractFunction1 {
        private final Pass rule;

        Inside(Pass rule) {
            this.rule = rule;
        }

        public Object apply(Object found) {
            Expression expression = (Expression) found;
            if (expression instanceof PlanExpression) {
                PlanExpression subquery = (PlanExpression) expression;
                if (subquery.plan() instanceof LogicalPlan) {
                    LogicalPlan before = (LogicalPlan) subquery.plan();
                    LogicalPlan after = rule.rewrite(before);
                    return after == before ? subquery : subquery.withNewPlan(after);
                }
                return subquery;
            }
            return expression.containsPattern(SUBQUERY) ? expression.mapChildren(this) : expression;
        }
    }
}
