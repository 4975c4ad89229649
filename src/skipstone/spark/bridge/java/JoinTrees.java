package skipstone;

import org.apache.spark.sql.catalyst.expressions.AttributeReference;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.PlanExpression;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.execution.datasources.HadoopFsRelation;
import org.apache.spark.sql.execution.datasources.LogicalRelation;
import org.apache.spark.sql.types.Metadata;

import scala.collection.Iterator;
import scala.runtime.AbstractFunction1;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * The inner joins of a logged query, each as large as it gets: its tables, by numbers, what it says
 * is equal, its conditions and the columns that it needs. In conditions a column is called by the
 * number of its table and its name, as in {@code 2.price}.
 */
final class JoinTrees {
    private final Map numbers = new LinkedHashMap();
    private final List tables = new ArrayList();
    private final List trees = new ArrayList();

    /** As {"tables": [root, ...], "trees": [...]}. */
    static Map of(LogicalPlan plan) {
        JoinTrees found = new JoinTrees();
        found.look(plan);
        Map out = new LinkedHashMap();
        out.put("tables", found.tables);
        out.put("trees", found.trees);
        return out;
    }

    private void look(LogicalPlan plan) {
        InnerJoins joins = InnerJoins.of(plan);
        if (joins.problem == null && joins.leaves.size() > 1) {
            trees.add(described(joins, plan));
            lookInsideAll(plan);
            return;
        }
        Iterator children = plan.children().iterator();
        while (children.hasNext()) {
            look((LogicalPlan) children.next());
        }
        lookInside(plan.expressions().iterator());
    }

    private void lookInsideAll(LogicalPlan plan) {
        lookInside(plan.expressions().iterator());
        Iterator children = plan.children().iterator();
        while (children.hasNext()) {
            lookInsideAll((LogicalPlan) children.next());
        }
    }

    /** Looks at the subqueries of expressions. */
    private void lookInside(Iterator expressions) {
        while (expressions.hasNext()) {
            Expression expression = (Expression) expressions.next();
            if (expression instanceof PlanExpression
                    && ((PlanExpression) expression).plan() instanceof LogicalPlan) {
                look((LogicalPlan) ((PlanExpression) expression).plan());
            }
            lookInside(expression.children().iterator());
        }
    }

    private Map described(InnerJoins joins, LogicalPlan plan) {
        List own = new ArrayList();
        List columns = new ArrayList();
        for (int i = 0; i < joins.leaves.size(); i++) {
            own.add(number(joins.leaf(i)));
            List names = new ArrayList();
            java.util.Iterator needed = joins.needed(i, plan).iterator();
            while (needed.hasNext()) {
                names.add(((AttributeReference) needed.next()).name());
            }
            columns.add(names);
        }
        List equal = new ArrayList();
        List pairs = joins.equalities();
        for (int i = 0; i < pairs.size(); i++) {
            Expression[] pair = (Expression[]) pairs.get(i);
            List both = new ArrayList();
            for (int k = 0; k < 2; k++) {
                both.add(own.get(joins.leafOf(pair[k])));
                both.add(joins.nameOf((AttributeReference) pair[k]));
            }
            equal.add(both);
        }
        List filters = new ArrayList();
        for (int i = 0; i < joins.conjuncts.size(); i++) {
            Expression conjunct = (Expression) joins.conjuncts.get(i);
            filters.add(CatalystJson.tree((Expression) new Numbered(joins, own).apply(conjunct)));
        }
        Map out = new LinkedHashMap();
        out.put("tables", own);
        out.put("columns", columns);
        out.put("equal", equal);
        out.put("filters", filters);
        return out;
    }

    private Integer number(LogicalRelation leaf) {
        HadoopFsRelation relation = (HadoopFsRelation) leaf.relation();
        Iterator roots = relation.location().rootPaths().iterator();
        String root = roots.hasNext() ? roots.next().toString() : "";
        if (!numbers.containsKey(root)) {
            numbers.put(root, Integer.valueOf(tables.size()));
            tables.add(root);
        }
        return (Integer) numbers.get(root);
    }

    /** Calls columns by the numbers of their tables. */
    static final class Numbered extends AbstractFunction1 {
        private final InnerJoins joins;
        private final List numbers;

        Numbered(InnerJoins joins, List numbers) {
            this.joins = joins;
            this.numbers = numbers;
        }

        public Object apply(Object node) {
            if (node instanceof AttributeReference) {
                AttributeReference column = (AttributeReference) node;
                return new AttributeReference(
                        numbers.get(joins.leafOf(column)) + "." + joins.nameOf(column),
                        column.dataType(),
                        column.nullable(),
                        Metadata.empty(),
                        column.exprId(),
                        column.qualifier());
            }
            return ((Expression) node).mapChildren(this);
        }
    }
}
