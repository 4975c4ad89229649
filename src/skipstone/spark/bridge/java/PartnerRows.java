package skipstone;

import org.apache.spark.sql.catalyst.expressions.Alias;
import org.apache.spark.sql.catalyst.expressions.AttributeReference;
import org.apache.spark.sql.catalyst.expressions.EqualTo;
import org.apache.spark.sql.catalyst.expressions.ExprId;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.IsNotNull;
import org.apache.spark.sql.catalyst.plans.logical.Aggregate;
import org.apache.spark.sql.catalyst.plans.logical.Filter;
import org.apache.spark.sql.catalyst.plans.logical.GlobalLimit;
import org.apache.spark.sql.catalyst.plans.logical.Join;
import org.apache.spark.sql.catalyst.plans.logical.LocalLimit;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.Project;
import org.apache.spark.sql.catalyst.plans.logical.Sort;
import org.apache.spark.sql.catalyst.plans.logical.Window;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DoubleType;
import org.apache.spark.sql.types.FloatType;

import scala.Option;
import scala.collection.Iterator;
import scala.collection.immutable.Seq;
import scala.runtime.AbstractFunction1;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * What stands behind every row of a plan: rows of its leaves that satisfy conditions and have equal
 * keys. Whatever else the plan does, none of its rows comes without them.
 */
final class PartnerRows {
    /** A leaf and the conditions that its row satisfies. */
    static final class Leaf {
        final LogicalPlan plan;
        final List conditions = new ArrayList();

        Leaf(LogicalPlan plan) {
            this.plan = plan;
        }

        boolean has(Expression expression) {
            return !expression.references().isEmpty()
                    && expression.references().subsetOf(plan.outputSet());
        }
    }

    /** Of type {@link Leaf}. */
    final List leaves = new ArrayList();

    /** Pairs of columns of two leaves that are equal. */
    final List equal = new ArrayList();

    private final Map named = new HashMap();

    /** What is known of the rows of a plan; no leaves where nothing is. */
    static PartnerRows of(LogicalPlan plan) {
        PartnerRows rows = new PartnerRows();
        rows.add(plan);
        return rows;
    }

    private void add(LogicalPlan plan) {
        if (plan.children().isEmpty()) {
            leaves.add(new Leaf(plan));
        } else if (plan instanceof Filter) {
            add(((Filter) plan).child());
            where(((Filter) plan).condition());
        } else if (plan instanceof Project) {
            add(((Project) plan).child());
            name(((Project) plan).projectList(), null);
        } else if (plan instanceof Aggregate
                && !((Aggregate) plan).groupingExpressions().isEmpty()) {
            // Each group has a row, and the values that it is grouped by are those of this row.
            add(((Aggregate) plan).child());
            name(
                    ((Aggregate) plan).aggregateExpressions(),
                    ((Aggregate) plan).groupingExpressions());
        } else if (plan instanceof Join) {
            join((Join) plan);
        } else if (plan instanceof Sort
                || plan instanceof Window
                || plan instanceof GlobalLimit
                || plan instanceof LocalLimit) {
            Object child = plan.children().head();
            add((LogicalPlan) child);
        }
    }

    private void join(Join join) {
        String type = join.joinType().toString();
        boolean both = type.equals("Inner") || type.equals("Cross") || type.equals("LeftSemi");
        if (both || type.equals("LeftOuter") || type.equals("LeftAnti")) {
            add(join.left());
        }
        if (both || type.equals("RightOuter")) {
            add(join.right());
        }
        Option condition = join.condition();
        if (both && condition.isDefined()) {
            where((Expression) condition.get());
        }
    }

    /** All rows satisfy a condition. */
    void where(Expression condition) {
        List conjuncts = new ArrayList();
        ScanQuestion.split(condition, conjuncts);
        for (int i = 0; i < conjuncts.size(); i++) {
            Expression conjunct = (Expression) conjuncts.get(i);
            holds(resolved(conjunct));
        }
    }

    private void holds(Expression condition) {
        if (condition instanceof IsNotNull
                || !condition.deterministic()
                || ScanQuestion.hasPlan(condition)) {
            return;
        }
        for (int i = 0; i < leaves.size(); i++) {
            if (((Leaf) leaves.get(i)).has(condition)) {
                ((Leaf) leaves.get(i)).conditions.add(condition);
                return;
            }
        }
        Expression[] pair = equality(condition);
        if (pair != null && leafOf(pair[0]) != null && leafOf(pair[1]) != null) {
            equal.add(pair);
        }
    }

    /** The two columns that a condition says are equal; null if it is no such condition. */
    static Expression[] equality(Expression condition) {
        if (!(condition instanceof EqualTo)) {
            return null;
        }
        Expression left = ((EqualTo) condition).left();
        Expression right = ((EqualTo) condition).right();
        boolean columns = left instanceof AttributeReference && right instanceof AttributeReference;
        return columns && left.dataType().equals(right.dataType()) && compares(left.dataType())
                ? new Expression[] {left, right}
                : null;
    }

    /** Floating-point keys are normalised by joins, so equal ones are not one value. */
    private static boolean compares(DataType type) {
        return KeyPredicate.supports(type)
                && !(type instanceof FloatType)
                && !(type instanceof DoubleType);
    }

    Leaf leafOf(Expression column) {
        for (int i = 0; i < leaves.size(); i++) {
            if (((Leaf) leaves.get(i)).has(column)) {
                return (Leaf) leaves.get(i);
            }
        }
        return null;
    }

    /** An expression over what the plan puts out as one over the columns of leaves. */
    Expression resolved(Expression expression) {
        return (Expression) new Resolve(named).apply(expression);
    }

    /**
     * @param groups of a grouping, what it groups by: only that is the same for all rows of a group
     */
    private void name(Seq expressions, Seq groups) {
        Iterator each = expressions.iterator();
        while (each.hasNext()) {
            Object found = each.next();
            if (found instanceof Alias
                    && (groups == null || PartnerFinder.among(((Alias) found).child(), groups))) {
                named.put(((Alias) found).exprId(), resolved(((Alias) found).child()));
            }
        }
    }

    static final class Resolve extends AbstractFunction1 {
        private final Map named;

        Resolve(Map named) {
            this.named = named;
        }

        public Object apply(Object node) {
            if (node instanceof AttributeReference) {
                ExprId id = ((AttributeReference) node).exprId();
                Object found = named.get(id);
                return found == null ? node : found;
            }
            return ((Expression) node).mapChildren(this);
        }
    }
}
