package skipstone;

import org.apache.spark.sql.catalyst.expressions.EqualTo;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.plans.LeftSemi$;
import org.apache.spark.sql.catalyst.plans.logical.Filter;
import org.apache.spark.sql.catalyst.plans.logical.Join;
import org.apache.spark.sql.catalyst.plans.logical.JoinHint;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;

import scala.Option;
import scala.collection.mutable.ListBuffer;

import java.util.ArrayList;
import java.util.List;

/**
 * What a join asks of the rows of a scan further down: that their key has a partner on its other
 * side. In <code>facts JOIN shops JOIN towns</code> the towns are joined to shops that are joined
 * to the facts already. Only facts of shops in these towns are wanted, so the shops whose keys skip
 * facts are those with a partner among the towns.
 *
 * <p>{@link JoinTarget} has found that the condition may be evaluated at the scan as well. It holds
 * on the way to that scan only; elsewhere in a plan there may be another scan of the same rows.
 */
final class KeyAbove {
    private final List way;
    private final Expression key;
    private final LogicalPlan other;
    private final Expression otherKey;

    /**
     * @param way the position of the child to take at each operator on the way to the scan
     */
    KeyAbove(List way, Expression key, LogicalPlan other, Expression otherKey) {
        this.way = way;
        this.key = key;
        this.other = other;
        this.otherKey = otherKey;
    }

    /** Those that are about a scan below a child of an operator. */
    static List below(List keys, int child) {
        List out = new ArrayList();
        for (int i = 0; i < keys.size(); i++) {
            KeyAbove each = (KeyAbove) keys.get(i);
            if (!each.way.isEmpty() && ((Integer) each.way.get(0)).intValue() == child) {
                List rest = new ArrayList(each.way.subList(1, each.way.size()));
                out.add(new KeyAbove(rest, each.key, each.other, each.otherKey));
            }
        }
        return out;
    }

    /** The rows of a plan that satisfy all of them. */
    static LogicalPlan narrowed(LogicalPlan plan, List keys) {
        LogicalPlan out = plan;
        for (int i = 0; i < keys.size(); i++) {
            KeyAbove each = (KeyAbove) keys.get(i);
            out = each.joined(out, 0);
        }
        return out;
    }

    /**
     * A semi join changes no way to a scan: it is put where the way ends, or above a filter there.
     */
    private LogicalPlan joined(LogicalPlan plan, int depth) {
        boolean end = depth >= way.size() || plan instanceof Filter && depth == way.size() - 1;
        if (end) {
            return new Join(
                    plan,
                    other,
                    LeftSemi$.MODULE$,
                    Option.apply(new EqualTo(key, otherKey)),
                    JoinHint.NONE());
        }
        int position = ((Integer) way.get(depth)).intValue();
        ListBuffer children = new ListBuffer();
        for (int i = 0; i < plan.children().size(); i++) {
            Object child = plan.children().apply(i);
            children.addOne(i == position ? joined((LogicalPlan) child, depth + 1) : child);
        }
        Object made = plan.withNewChildren(children.toList());
        return (LogicalPlan) made;
    }
}
