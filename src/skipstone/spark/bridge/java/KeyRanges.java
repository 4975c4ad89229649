package skipstone;

import org.apache.spark.sql.catalyst.expressions.And;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.GetArrayItem;
import org.apache.spark.sql.catalyst.expressions.GreaterThanOrEqual;
import org.apache.spark.sql.catalyst.expressions.IsNotNull;
import org.apache.spark.sql.catalyst.expressions.IsNull;
import org.apache.spark.sql.catalyst.expressions.LessThan;
import org.apache.spark.sql.catalyst.expressions.Literal;
import org.apache.spark.sql.catalyst.expressions.Or;
import org.apache.spark.sql.catalyst.expressions.SparkPartitionID;
import org.apache.spark.sql.catalyst.util.GenericArrayData;
import org.apache.spark.sql.types.ArrayType;
import org.apache.spark.sql.types.BinaryType;
import org.apache.spark.sql.types.BooleanType;
import org.apache.spark.sql.types.BooleanType$;
import org.apache.spark.sql.types.ByteType;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DateType;
import org.apache.spark.sql.types.Decimal;
import org.apache.spark.sql.types.DecimalType;
import org.apache.spark.sql.types.IntegerType;
import org.apache.spark.sql.types.LongType;
import org.apache.spark.sql.types.ShortType;
import org.apache.spark.sql.types.StringType;
import org.apache.spark.sql.types.TimestampNTZType;
import org.apache.spark.sql.types.TimestampType;
import org.apache.spark.unsafe.types.UTF8String;

import java.math.BigDecimal;
import java.util.HexFormat;
import java.util.List;

/**
 * The condition by which each task keeps only the rows whose key is in its own range: the bounds of
 * all tasks as arrays, from which each takes its own by the number of its partition.
 */
final class KeyRanges {
    private final DataType type;
    private final Object[] low;
    private final Object[] high;
    private final Object[] nulls;

    /**
     * @param ranges for each task the values from which and before which keys are its own, null for
     *     no bound, and whether rows without a key are
     */
    KeyRanges(DataType type, List ranges) {
        this.type = type;
        this.low = new Object[ranges.size()];
        this.high = new Object[ranges.size()];
        this.nulls = new Object[ranges.size()];
        for (int i = 0; i < ranges.size(); i++) {
            List range = (List) ranges.get(i);
            low[i] = value(range.get(0));
            high[i] = value(range.get(1));
            nulls[i] = range.get(2);
        }
    }

    /** A value as Catalyst has it. */
    private Object value(Object found) {
        if (found == null) {
            return null;
        }
        if (type instanceof StringType) {
            return UTF8String.fromString(String.valueOf(found));
        }
        if (type instanceof BinaryType) {
            return HexFormat.of().parseHex(String.valueOf(found));
        }
        if (type instanceof BooleanType) {
            return found;
        }
        if (type instanceof DecimalType) {
            DecimalType exact = (DecimalType) type;
            Decimal value = Decimal.apply(new BigDecimal(String.valueOf(found)));
            if (!value.changePrecision(exact.precision(), exact.scale())) {
                throw new IllegalStateException(found + " is no " + type.sql());
            }
            return value;
        }
        return whole(((Number) found).longValue());
    }

    private Object whole(long number) {
        if (type instanceof ByteType) {
            return Byte.valueOf((byte) number);
        }
        if (type instanceof ShortType) {
            return Short.valueOf((short) number);
        }
        if (type instanceof IntegerType || type instanceof DateType) {
            return Integer.valueOf((int) number);
        }
        if (type instanceof LongType
                || type instanceof TimestampType
                || type instanceof TimestampNTZType) {
            return Long.valueOf(number);
        }
        throw new IllegalStateException("keys of type " + type.sql() + " have no ranges");
    }

    /** The condition on a key. */
    Expression of(Attribute key) {
        Expression from = own(low, type);
        Expression until = own(high, type);
        Expression within =
                new And(
                        new Or(new IsNull(from), new GreaterThanOrEqual(key, from)),
                        new Or(new IsNull(until), new LessThan(key, until)));
        // NULL is compared with nothing where a task has no bounds.
        Expression known = new And(new IsNotNull(key), within);
        return new Or(known, new And(new IsNull(key), own(nulls, BooleanType$.MODULE$)));
    }

    private static Expression own(Object[] values, DataType type) {
        Literal all = new Literal(new GenericArrayData(values), new ArrayType(type, true));
        return new GetArrayItem(all, new SparkPartitionID(), false);
    }
}
