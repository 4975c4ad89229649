package skipstone;

import org.apache.spark.sql.catalyst.expressions.DynamicPruningSubquery;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.ListQuery;
import org.apache.spark.sql.catalyst.expressions.PlanExpression;
import org.apache.spark.sql.catalyst.expressions.ScalarSubquery;
import org.apache.spark.sql.catalyst.expressions.SubqueryExpression;
import org.apache.spark.sql.catalyst.plans.logical.Filter;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.Subquery;
import org.apache.spark.sql.catalyst.rules.Rule;
import org.apache.spark.sql.catalyst.trees.TreeNode;
import org.apache.spark.sql.catalyst.trees.TreePattern;
import org.apache.spark.sql.execution.datasources.LogicalRelation;

import scala.runtime.AbstractFunction1;

import java.util.IdentityHashMap;

/**
 * The optimizer rule: finds the filtered scans of a plan and its subqueries, and has them pruned.
 */
public final class SkipRule extends Rule {
    private static final scala.Enumeration.Value SUBQUERY = TreePattern.PLAN_EXPRESSION();

    private final Skipstone shim;
    private final ScanPruner pruner;
    private final JoinPruner joins;
    private final JoinedReplicas joined;

    SkipRule(Skipstone shim, ScanPruner pruner, JoinPruner joins, JoinedReplicas joined) {
        this.shim = shim;
        this.pruner = pruner;
        this.joins = joins;
        this.joined = joined;
    }

    public TreeNode apply(TreeNode plan) {
        if (!shim.wanted()) {
            return plan;
        }
        LogicalPlan whole = (LogicalPlan) plan;
        Pass pass = new Pass(this, !FilePaths.inPlan(whole));
        // A subquery that is optimized alone may still be changed, and is looked at again later.
        return whole instanceof Subquery
                ? pass.rewrite(whole)
                : pass.withJoins(joined.rewrite(whole));
    }

    /** One look at a whole plan. */
    static final class Pass {
        private final ScanPruner pruner;
        private final JoinPruner joins;

        /** Whether files of replicas may be read in place of the base files. */
        private final boolean anyCopy;

        /** By scan, what joins of the plan ask of it. */
        private final IdentityHashMap partners;

        Pass(SkipRule rule, boolean anyCopy) {
            this.pruner = rule.pruner;
            this.joins = rule.joins;
            this.anyCopy = anyCopy;
            this.partners = new IdentityHashMap();
        }

        private Pass(Pass around, IdentityHashMap partners) {
            this.pruner = around.pruner;
            this.joins = around.joins;
            this.anyCopy = around.anyCopy;
            this.partners = partners;
        }

        /** Skips at planning first, so that joins see what is left. */
        LogicalPlan withJoins(LogicalPlan plan) {
            Pass inside = new Pass(this, pruner.partners(plan));
            return new JoinRule(joins, pruner).rewrite(inside.rewrite(plan));
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

        /** Whether a filter was made for a join; its plan is that of the join's other side. */
        boolean isOurs(PlanExpression subquery) {
            return subquery instanceof DynamicPruningSubquery
                    && joins.records.made(((DynamicPruningSubquery) subquery).exprId().id());
        }

        private String asked(LogicalPlan scan) {
            return (String) partners.get(scan);
        }

        private LogicalPlan rewriteScans(LogicalPlan plan) {
            if (plan instanceof Filter) {
                Filter filter = (Filter) plan;
                if (filter.child() instanceof LogicalRelation) {
                    LogicalRelation scan = (LogicalRelation) filter.child();
                    LogicalRelation pruned =
                            pruner.prune(scan, filter.condition(), anyCopy, asked(scan));
                    return pruned == scan ? plan : new Filter(filter.condition(), pruned);
                }
            }
            if (plan instanceof LogicalRelation && (anyCopy || asked(plan) != null)) {
                return pruner.prune((LogicalRelation) plan, null, anyCopy, asked(plan));
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
                    if (rule.isOurs(subquery)) {
                        return subquery;
                    }
                    LogicalPlan before = (LogicalPlan) subquery.plan();
                    LogicalPlan after =
                            isAlone(subquery) ? rule.withJoins(before) : rule.rewrite(before);
                    return after == before ? subquery : subquery.withNewPlan(after);
                }
                return subquery;
            }
            return expression.containsPattern(SUBQUERY) ? expression.mapChildren(this) : expression;
        }

        /** Whether a subquery is a query of its own. */
        private static boolean isAlone(PlanExpression subquery) {
            return (subquery instanceof ScalarSubquery || subquery instanceof ListQuery)
                    && ((SubqueryExpression) subquery).getOuterAttrs().isEmpty();
        }
    }
}
