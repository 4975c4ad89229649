package skipstone;

import org.apache.spark.sql.catalyst.expressions.And;
import org.apache.spark.sql.catalyst.expressions.AttributeReference;
import org.apache.spark.sql.catalyst.expressions.Cast;
import org.apache.spark.sql.catalyst.expressions.Cast$;
import org.apache.spark.sql.catalyst.expressions.Contains;
import org.apache.spark.sql.catalyst.expressions.EndsWith;
import org.apache.spark.sql.catalyst.expressions.EqualNullSafe;
import org.apache.spark.sql.catalyst.expressions.EqualTo;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.GetStructField;
import org.apache.spark.sql.catalyst.expressions.GreaterThan;
import org.apache.spark.sql.catalyst.expressions.GreaterThanOrEqual;
import org.apache.spark.sql.catalyst.expressions.In;
import org.apache.spark.sql.catalyst.expressions.InSet;
import org.apache.spark.sql.catalyst.expressions.IsNotNull;
import org.apache.spark.sql.catalyst.expressions.IsNull;
import org.apache.spark.sql.catalyst.expressions.LessThan;
import org.apache.spark.sql.catalyst.expressions.LessThanOrEqual;
import org.apache.spark.sql.catalyst.expressions.Like;
import org.apache.spark.sql.catalyst.expressions.Literal;
import org.apache.spark.sql.catalyst.expressions.Not;
import org.apache.spark.sql.catalyst.expressions.Or;
import org.apache.spark.sql.catalyst.expressions.StartsWith;
import org.apache.spark.sql.types.IntegralType;

import scala.collection.Iterator;

import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * Conjuncts that cannot fail whatever row they are evaluated on, so that they can be evaluated
 * before others that would have kept a row from them.
 */
final class SafeFilters {
    private static final Set SAFE =
            new HashSet(
                    Arrays.asList(
                            new Object[] {
                                And.class,
                                AttributeReference.class,
                                Contains.class,
                                EndsWith.class,
                                EqualNullSafe.class,
                                EqualTo.class,
                                GetStructField.class,
                                GreaterThan.class,
                                GreaterThanOrEqual.class,
                                In.class,
                                InSet.class,
                                IsNotNull.class,
                                IsNull.class,
                                LessThan.class,
                                LessThanOrEqual.class,
                                Like.class,
                                Literal.class,
                                Not.class,
                                Or.class,
                                StartsWith.class
                            }));

    private SafeFilters() {}

    /** Adds those of a condition. */
    static void add(Expression condition, List out) {
        if (condition instanceof And) {
            add(((And) condition).left(), out);
            add(((And) condition).right(), out);
        } else if (isSafe(condition)) {
            out.add(condition);
        }
    }

    /** Whether an expression can be computed for any row: one of those, or a wider whole number. */
    static boolean neverFails(Expression expression) {
        if (expression instanceof Cast
                && expression.dataType() instanceof IntegralType
                && Cast$.MODULE$.canUpCast(
                        ((Cast) expression).child().dataType(), expression.dataType())) {
            return neverFails(((Cast) expression).child());
        }
        return isSafe(expression);
    }

    private static boolean isSafe(Expression expression) {
        if (!SAFE.contains(expression.getClass())) {
            return false;
        }
        Iterator children = expression.children().iterator();
        while (children.hasNext()) {
            if (!isSafe((Expression) children.next())) {
                return false;
            }
        }
        return true;
    }
}
