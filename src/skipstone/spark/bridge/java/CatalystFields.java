package skipstone;

import org.apache.spark.QueryContext;
import org.apache.spark.sql.catalyst.expressions.AttributeReference;
import org.apache.spark.sql.catalyst.expressions.Cast;
import org.apache.spark.sql.catalyst.expressions.Cast$;
import org.apache.spark.sql.catalyst.expressions.ExprId;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.GetStructField;
import org.apache.spark.sql.catalyst.expressions.InSet;
import org.apache.spark.sql.catalyst.expressions.InitCap;
import org.apache.spark.sql.catalyst.expressions.Literal;
import org.apache.spark.sql.catalyst.expressions.Lower;
import org.apache.spark.sql.catalyst.expressions.Upper;
import org.apache.spark.sql.types.ArrayType;
import org.apache.spark.sql.types.BooleanType;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DateType;
import org.apache.spark.sql.types.IntegralType;
import org.apache.spark.sql.types.MapType;
import org.apache.spark.sql.types.Metadata;
import org.apache.spark.sql.types.StringType;
import org.apache.spark.sql.types.StringType$;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.unsafe.types.UTF8String;

import scala.Option;
import scala.Product;
import scala.collection.Iterator;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;

/** The fields of an expression that are not its children. */
final class CatalystFields {
    /** Languages in which letters change their case in ways of their own, in Java or in ICU. */
    private static final List CASED =
            Arrays.asList(new Object[] {"tr", "az", "lt", "el", "hy", "nl"});

    private CatalystFields() {}

    static Map of(Expression e) {
        Map out = new LinkedHashMap();
        if (e instanceof Literal) {
            out.put("value", CatalystValues.value(((Literal) e).value(), e.dataType()));
            return out;
        }
        if (e instanceof InSet) {
            List members = new ArrayList();
            Iterator set = ((InSet) e).hset().iterator();
            while (set.hasNext()) {
                members.add(CatalystValues.value(set.next(), ((InSet) e).child().dataType()));
            }
            out.put("members", members);
            return out;
        }
        if (e instanceof AttributeReference) {
            out.put("name", ((AttributeReference) e).name());
            out.put("metadata", ((AttributeReference) e).metadata().json());
            return out;
        }
        if (e instanceof GetStructField) {
            GetStructField get = (GetStructField) e;
            StructField field = ((StructType) get.child().dataType()).fields()[get.ordinal()];
            out.put("name", field.name());
            out.put("metadata", field.metadata().json());
            return out;
        }
        for (int i = 0; i < e.productArity(); i++) {
            out.put(e.productElementName(i), field(e.productElement(i), e));
        }
        if (e instanceof Cast) {
            DataType from = ((Cast) e).child().dataType();
            out.put("needsTimeZone", Boolean.valueOf(((Cast) e).needsTimeZone()));
            out.put("sameInAllModes", Boolean.valueOf(sameInAllModes(from, e.dataType())));
        }
        if (e instanceof Lower || e instanceof Upper || e instanceof InitCap) {
            String language = Locale.getDefault().getLanguage();
            if (CASED.contains(language)) {
                out.put("language", language);
            }
        }
        return out;
    }

    /**
     * Whether a cast neither fails nor depends on the mode: decimals, for one, are written in two
     * ways.
     */
    private static boolean sameInAllModes(DataType from, DataType to) {
        if (from.equals(to)) {
            return true;
        }
        if (from instanceof ArrayType && to instanceof ArrayType) {
            return Cast$.MODULE$.canUpCast(from, to)
                    && sameInAllModes(
                            ((ArrayType) from).elementType(), ((ArrayType) to).elementType());
        }
        if (from instanceof MapType && to instanceof MapType) {
            return Cast$.MODULE$.canUpCast(from, to)
                    && sameInAllModes(((MapType) from).keyType(), ((MapType) to).keyType())
                    && sameInAllModes(((MapType) from).valueType(), ((MapType) to).valueType());
        }
        if (from instanceof StructType && to instanceof StructType) {
            boolean same = Cast$.MODULE$.canUpCast(from, to);
            StructField[] before = ((StructType) from).fields();
            StructField[] after = ((StructType) to).fields();
            for (int i = 0; same && i < before.length; i++) {
                same = sameInAllModes(before[i].dataType(), after[i].dataType());
            }
            return same;
        }
        if (to instanceof StringType) {
            return from instanceof IntegralType
                    || from instanceof BooleanType
                    || from instanceof DateType;
        }
        return !(from instanceof StringType) && Cast$.MODULE$.canUpCast(from, to);
    }

    /** A constructor argument; a child is {"child": position}. */
    private static Object field(Object value, Expression owner) {
        if (value == null
                || value instanceof Boolean
                || value instanceof String
                || value instanceof Integer
                || value instanceof Long
                || value instanceof Short
                || value instanceof Byte) {
            return value;
        }
        if (value instanceof Float
                || value instanceof Double
                || value instanceof Character
                || value instanceof scala.Enumeration.Value
                || value instanceof Enum) {
            return value.toString();
        }
        if (value instanceof UTF8String) {
            return CatalystValues.value(value, StringType$.MODULE$);
        }
        if (value instanceof DataType) {
            return ((DataType) value).json();
        }
        if (value instanceof Metadata) {
            return ((Metadata) value).json();
        }
        if (value instanceof Class) {
            return ((Class) value).getName();
        }
        if (value instanceof Option) {
            return ((Option) value).isEmpty() ? null : field(((Option) value).get(), owner);
        }
        if (value instanceof QueryContext || value instanceof ExprId) {
            return null;
        }
        if (value instanceof Expression) {
            return expression((Expression) value, owner);
        }
        if (value instanceof scala.collection.Map) {
            return map((scala.collection.Map) value, owner);
        }
        if (value instanceof scala.collection.Seq) {
            List out = new ArrayList();
            Iterator items = ((scala.collection.Seq) value).iterator();
            while (items.hasNext()) {
                out.add(field(items.next(), owner));
            }
            return out;
        }
        if (value instanceof Product) {
            return product((Product) value, owner);
        }
        return CatalystValues.lost(value);
    }

    private static Object expression(Expression value, Expression owner) {
        int position = 0;
        Iterator children = owner.children().iterator();
        while (children.hasNext()) {
            if (children.next() == value) {
                return CatalystValues.one("child", Integer.valueOf(position));
            }
            position++;
        }
        return value instanceof Literal
                ? CatalystValues.one("literal", of(value))
                : CatalystValues.lost(value);
    }

    private static Object map(scala.collection.Map value, Expression owner) {
        Map out = new TreeMap();
        Iterator entries = value.iterator();
        while (entries.hasNext()) {
            scala.Tuple2 entry = (scala.Tuple2) entries.next();
            if (!(entry._1() instanceof String)) {
                return CatalystValues.lost(value);
            }
            out.put(entry._1(), field(entry._2(), owner));
        }
        return CatalystValues.one("map", out);
    }

    /** A case class or a tuple; a Scala object is its class name. */
    private static Object product(Product value, Expression owner) {
        String name = value.getClass().getName();
        if (value.productArity() == 0 && !name.endsWith("$")) {
            return CatalystValues.lost(value);
        }
        Map out = new LinkedHashMap();
        out.put("product", name);
        for (int i = 0; i < value.productArity(); i++) {
            out.put(value.productElementName(i), field(value.productElement(i), owner));
        }
        return out;
    }
}
