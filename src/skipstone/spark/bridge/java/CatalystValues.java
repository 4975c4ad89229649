package skipstone;

import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.util.ArrayData;
import org.apache.spark.sql.catalyst.util.MapData;
import org.apache.spark.sql.types.ArrayType;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.Decimal;
import org.apache.spark.sql.types.MapType;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.unsafe.types.UTF8String;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Values in Catalyst's internal form as what JSON is made of; what cannot be written faithfully is
 * {"lost": class}.
 */
final class CatalystValues {
    private CatalystValues() {}

    /**
     * A value in Catalyst's internal form: numbers as they are, doubles and decimals as text, bytes
     * as hex.
     */
    static Object value(Object value, DataType type) {
        if (value == null
                || value instanceof Boolean
                || value instanceof Integer
                || value instanceof Long
                || value instanceof Short
                || value instanceof Byte) {
            return value;
        }
        if (value instanceof Double) {
            return value.toString();
        }
        if (value instanceof Float) {
            return Double.toString(((Float) value).doubleValue());
        }
        if (value instanceof Decimal) {
            return ((Decimal) value).toJavaBigDecimal().toPlainString();
        }
        if (value instanceof UTF8String) {
            return ((UTF8String) value).isValid() ? value.toString() : lost(value);
        }
        if (value instanceof byte[]) {
            return hex((byte[]) value);
        }
        if (value instanceof ArrayData && type instanceof ArrayType) {
            return array((ArrayData) value, ((ArrayType) type).elementType());
        }
        if (value instanceof MapData && type instanceof MapType) {
            List out = new ArrayList();
            out.add(array(((MapData) value).keyArray(), ((MapType) type).keyType()));
            out.add(array(((MapData) value).valueArray(), ((MapType) type).valueType()));
            return out;
        }
        if (value instanceof InternalRow && type instanceof StructType) {
            List out = new ArrayList();
            StructField[] fields = ((StructType) type).fields();
            for (int i = 0; i < fields.length; i++) {
                DataType inner = fields[i].dataType();
                out.add(value(((InternalRow) value).get(i, inner), inner));
            }
            return out;
        }
        return lost(value);
    }

    private static List array(ArrayData values, DataType type) {
        List out = new ArrayList();
        for (int i = 0; i < values.numElements(); i++) {
            out.add(values.isNullAt(i) ? null : value(values.get(i, type), type));
        }
        return out;
    }

    private static String hex(byte[] bytes) {
        StringBuilder out = new StringBuilder();
        for (int i = 0; i < bytes.length; i++) {
            out.append(Integer.toHexString(0x100 | (bytes[i] & 0xff)).substring(1));
        }
        return out.toString();
    }

    static Map lost(Object value) {
        return one("lost", value.getClass().getName());
    }

    static Map one(String key, Object value) {
        Map out = new LinkedHashMap();
        out.put(key, value);
        return out;
    }
}
