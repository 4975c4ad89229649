package skipstone;

import org.apache.spark.sql.catalyst.expressions.And;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.GreaterThanOrEqual;
import org.apache.spark.sql.catalyst.expressions.InSet;
import org.apache.spark.sql.catalyst.expressions.LessThanOrEqual;
import org.apache.spark.sql.catalyst.expressions.Literal;
import org.apache.spark.sql.catalyst.expressions.Literal$;
import org.apache.spark.sql.catalyst.expressions.Or;
import org.apache.spark.sql.catalyst.util.TypeUtils$;
import org.apache.spark.sql.types.BinaryType;
import org.apache.spark.sql.types.BooleanType;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DateType;
import org.apache.spark.sql.types.Decimal;
import org.apache.spark.sql.types.DecimalType;
import org.apache.spark.sql.types.DoubleType;
import org.apache.spark.sql.types.FloatType;
import org.apache.spark.sql.types.IntegralType;
import org.apache.spark.sql.types.StringType;
import org.apache.spark.sql.types.TimestampNTZType;
import org.apache.spark.sql.types.TimestampType;

import scala.collection.mutable.HashSet;

import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;

/**
 * The condition on a table that every row with a partner satisfies: its key is one of the values,
 * or, of many values, in one of a few ranges that hold them all. NULL is equal to nothing.
 */
final class KeyPredicate {
    /** Judging a list takes some 10 microseconds a value; a range takes as long as ten of them. */
    private static final int MOST_VALUES = 1000;

    private static final int MOST_RANGES = 128;

    private KeyPredicate() {}

    /** Whether keys of a type are compared here as Spark's joins compare them. */
    static boolean supports(DataType type) {
        return type instanceof IntegralType
                || type instanceof FloatType
                || type instanceof DoubleType
                || type instanceof DecimalType
                || type instanceof DateType
                || type instanceof TimestampType
                || type instanceof TimestampNTZType
                || type instanceof BooleanType
                || type instanceof BinaryType
                || type instanceof StringType && !CatalystJson.collated(type);
    }

    /** Null if nothing can be said. */
    static Expression of(Expression key, Object[] values) {
        DataType type = key.dataType();
        Comparator order = (Comparator) TypeUtils$.MODULE$.getInterpretedOrdering(type);
        List found = new ArrayList(values.length);
        for (int i = 0; i < values.length; i++) {
            if (values[i] != null) {
                found.add(values[i]);
            }
        }
        if (found.isEmpty()) {
            return Literal$.MODULE$.FalseLiteral();
        }
        if (found.size() > MOST_VALUES) {
            Collections.sort(found, order);
            found = distinct(found, order);
        }
        if (found.size() <= MOST_VALUES) {
            HashSet set = new HashSet();
            for (int i = 0; i < found.size(); i++) {
                set.addOne(found.get(i));
            }
            return new InSet(key, set.toSet());
        }
        if (notANumber(found.get(found.size() - 1))) {
            return null;
        }
        return ranges(key, found, cuts(found));
    }

    private static List distinct(List sorted, Comparator order) {
        List out = new ArrayList();
        for (int i = 0; i < sorted.size(); i++) {
            if (i == 0 || order.compare(sorted.get(i - 1), sorted.get(i)) != 0) {
                out.add(sorted.get(i));
            }
        }
        return out;
    }

    /** NaN is the greatest of all numbers. */
    private static boolean notANumber(Object value) {
        return value instanceof Double && ((Double) value).isNaN()
                || value instanceof Float && ((Float) value).isNaN();
    }

    /**
     * Where ranges begin: behind the widest gaps, or every so many values where gaps have no width.
     */
    private static List cuts(List sorted) {
        List out = new ArrayList();
        boolean numbers = number(sorted.get(0)) != null;
        double least = numbers ? leastGap(sorted) : 0.0;
        int each = sorted.size() / MOST_RANGES + 1;
        for (int i = 1; i < sorted.size(); i++) {
            boolean cut = numbers ? gap(sorted, i) > least : i % each == 0;
            if (cut && out.size() < MOST_RANGES - 1) {
                out.add(Integer.valueOf(i));
            }
        }
        return out;
    }

    /** The width that all but the widest gaps do not exceed. */
    private static double leastGap(List sorted) {
        List gaps = new ArrayList(sorted.size());
        for (int i = 1; i < sorted.size(); i++) {
            gaps.add(Double.valueOf(gap(sorted, i)));
        }
        Collections.sort(gaps);
        return ((Double) gaps.get(Math.max(0, gaps.size() - MOST_RANGES))).doubleValue();
    }

    private static double gap(List sorted, int index) {
        return number(sorted.get(index)).doubleValue()
                - number(sorted.get(index - 1)).doubleValue();
    }

    private static Number number(Object value) {
        return value instanceof Number
                ? (Number) value
                : value instanceof Decimal ? ((Decimal) value).toJavaBigDecimal() : null;
    }

    private static Expression ranges(Expression key, List sorted, List cuts) {
        List parts = new ArrayList();
        int from = 0;
        for (int i = 0; i <= cuts.size(); i++) {
            int until = i == cuts.size() ? sorted.size() : ((Integer) cuts.get(i)).intValue();
            Literal low = new Literal(sorted.get(from), key.dataType());
            Literal high = new Literal(sorted.get(until - 1), key.dataType());
            parts.add(new And(new GreaterThanOrEqual(key, low), new LessThanOrEqual(key, high)));
            from = until;
        }
        return any(parts, 0, parts.size());
    }

    /** A balanced tree, for what is nested too deep is not judged. */
    private static Expression any(List parts, int from, int until) {
        if (until - from == 1) {
            return (Expression) parts.get(from);
        }
        int middle = (from + until) / 2;
        return new Or(any(parts, from, middle), any(parts, middle, until));
    }
}
