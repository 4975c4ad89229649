package skipstone;

import org.apache.spark.sql.catalyst.expressions.Alias;
import org.apache.spark.sql.catalyst.expressions.And;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.expressions.AttributeReference;
import org.apache.spark.sql.catalyst.expressions.DynamicPruningSubquery;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.aggregate.AggregateExpression;
import org.apache.spark.sql.catalyst.plans.logical.Aggregate;
import org.apache.spark.sql.catalyst.plans.logical.Filter;
import org.apache.spark.sql.catalyst.plans.logical.Join;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.Project;
import org.apache.spark.sql.execution.datasources.HadoopFsRelation;
import org.apache.spark.sql.execution.datasources.LogicalRelation;
import org.apache.spark.sql.types.DoubleType;
import org.apache.spark.sql.types.FloatType;

import scala.Option;
import scala.collection.Iterator;
import scala.collection.immutable.Seq;
import scala.collection.mutable.ListBuffer;
import scala.runtime.AbstractFunction1;

import java.util.ArrayList;
import java.util.List;

/**
 * The scan that the values of a join key come from, and the key as an expression over its columns.
 *
 * <p>It is looked for only through operators below which a condition on the key may be evaluated as
 * well as above: projections and filters without random values, the sides of joins whose rows are
 * neither made up nor needed without it, and the keys of a grouping. So a row of the scan whose key
 * has none of some values adds nothing to the rows above that have one of them.
 */
final class JoinTarget {
    final LogicalRelation scan;
    final Expression key;

    /** The position of the child to take at each operator on the way down. */
    private final List way;

    private JoinTarget(LogicalRelation scan, Expression key, List way) {
        this.scan = scan;
        this.key = key;
        this.way = way;
    }

    /** Null when there is no such scan. */
    static JoinTarget find(Expression key, LogicalPlan side) {
        return key.deterministic() && !ScanQuestion.hasPlan(key)
                ? find(key, side, new ArrayList())
                : null;
    }

    private static JoinTarget find(Expression key, LogicalPlan plan, List way) {
        if (key.references().isEmpty() || !key.references().subsetOf(plan.outputSet())) {
            return null;
        }
        if (plan instanceof LogicalRelation) {
            LogicalRelation scan = (LogicalRelation) plan;
            return scan.relation() instanceof HadoopFsRelation && !scan.isStreaming()
                    ? new JoinTarget(scan, key, way)
                    : null;
        }
        if (plan instanceof Project) {
            Project project = (Project) plan;
            return deterministic(project.projectList())
                    ? down(replaced(key, project.projectList()), project.child(), 0, way)
                    : null;
        }
        if (plan instanceof Filter) {
            Filter filter = (Filter) plan;
            return filter.condition().deterministic() ? down(key, filter.child(), 0, way) : null;
        }
        if (plan instanceof Aggregate) {
            Aggregate group = (Aggregate) plan;
            Expression below = replaced(key, group.aggregateExpressions());
            return deterministic(group.aggregateExpressions()) && grouped(below, group)
                    ? down(below, group.child(), 0, way)
                    : null;
        }
        return plan instanceof Join ? through((Join) plan, key, way) : null;
    }

    private static JoinTarget through(Join join, Expression key, List way) {
        Option condition = join.condition();
        if (condition.isDefined() && !((Expression) condition.get()).deterministic()) {
            return null;
        }
        String type = join.joinType().toString();
        boolean both = type.equals("Inner") || type.equals("Cross");
        if (key.references().subsetOf(join.left().outputSet())) {
            boolean kept =
                    both
                            || type.equals("LeftOuter")
                            || type.equals("LeftSemi")
                            || type.equals("LeftAnti");
            return kept ? down(key, join.left(), 0, way) : null;
        }
        if (key.references().subsetOf(join.right().outputSet())) {
            return both || type.equals("RightOuter") ? down(key, join.right(), 1, way) : null;
        }
        return null;
    }

    private static JoinTarget down(Expression key, LogicalPlan child, int position, List way) {
        List next = new ArrayList(way);
        next.add(Integer.valueOf(position));
        return find(key, child, next);
    }

    private static boolean deterministic(Seq expressions) {
        Iterator each = expressions.iterator();
        while (each.hasNext()) {
            if (!((Expression) each.next()).deterministic()) {
                return false;
            }
        }
        return true;
    }

    /**
     * Whether an expression is the same for all rows of a group. Values that are told apart are in
     * one group if they are equal otherwise: 0.0 and -0.0, or texts by their collation.
     */
    private static boolean grouped(Expression key, Aggregate group) {
        Iterator groups = group.groupingExpressions().iterator();
        while (groups.hasNext()) {
            if (((Expression) groups.next()).semanticEquals(key)) {
                return KeyPredicate.supports(key.dataType())
                        && !(key.dataType() instanceof DoubleType)
                        && !(key.dataType() instanceof FloatType);
            }
        }
        if (key instanceof AggregateExpression || key.children().isEmpty()) {
            return !(key instanceof Attribute || key instanceof AggregateExpression);
        }
        Iterator children = key.children().iterator();
        while (children.hasNext()) {
            if (!grouped((Expression) children.next(), group)) {
                return false;
            }
        }
        return true;
    }

    private static Expression replaced(Expression key, Seq named) {
        return (Expression) new Named(named).apply(key);
    }

    /** Replaces columns by what they are names of. */
    static final class Named extends AbstractFunction1 {
        private final Seq named;

        Named(Seq named) {
            this.named = named;
        }

        public Object apply(Object node) {
            if (node instanceof AttributeReference) {
                Iterator each = named.iterator();
                while (each.hasNext()) {
                    Object found = each.next();
                    if (found instanceof Alias
                            && ((Alias) found)
                                    .exprId()
                                    .equals(((AttributeReference) node).exprId())) {
                        return ((Alias) found).child();
                    }
                }
                return node;
            }
            return ((Expression) node).mapChildren(this);
        }
    }

    /** The way from an operator, by the position of its child that leads here. */
    List wayFrom(int position) {
        List out = new ArrayList();
        out.add(Integer.valueOf(position));
        out.addAll(way);
        return out;
    }

    /** The side with a filter on the scan. */
    LogicalPlan filtered(LogicalPlan side, Expression filter) {
        return filtered(side, filter, 0);
    }

    private LogicalPlan filtered(LogicalPlan plan, Expression filter, int depth) {
        if (plan instanceof Filter && depth == way.size() - 1) {
            Filter above = (Filter) plan;
            return new Filter(new And(above.condition(), filter), above.child());
        }
        if (depth == way.size()) {
            return new Filter(filter, plan);
        }
        int position = ((Integer) way.get(depth)).intValue();
        ListBuffer children = new ListBuffer();
        for (int i = 0; i < plan.children().size(); i++) {
            Object child = plan.children().apply(i);
            children.addOne(
                    i == position ? filtered((LogicalPlan) child, filter, depth + 1) : child);
        }
        Object made = plan.withNewChildren(children.toList());
        return (LogicalPlan) made;
    }

    /**
     * Whether a filter is ours: Spark makes the same kind for the columns that a table is
     * partitioned by, and prunes by them itself.
     */
    static boolean ofFiles(DynamicPruningSubquery filter, LogicalRelation scan) {
        return !byPartition(filter.pruningKey(), scan);
    }

    /** Whether an expression reads nothing but columns that a table is partitioned by. */
    static boolean byPartition(Expression key, LogicalRelation scan) {
        String[] partitions = ((HadoopFsRelation) scan.relation()).partitionSchema().fieldNames();
        Iterator references = key.references().iterator();
        while (references.hasNext()) {
            String name = ((Attribute) references.next()).name();
            boolean found = false;
            for (int i = 0; i < partitions.length; i++) {
                found = found || partitions[i].equalsIgnoreCase(name);
            }
            if (!found) {
                return false;
            }
        }
        return true;
    }
}
