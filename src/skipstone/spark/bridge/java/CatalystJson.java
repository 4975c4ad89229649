package skipstone;

import com.fasterxml.jackson.databind.ObjectMapper;

import org.apache.spark.QueryContext;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.ApplyFunctionExpression;
import org.apache.spark.sql.catalyst.expressions.AttributeReference;
import org.apache.spark.sql.catalyst.expressions.Cast;
import org.apache.spark.sql.catalyst.expressions.Cast$;
import org.apache.spark.sql.catalyst.expressions.ExprId;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.GetStructField;
import org.apache.spark.sql.catalyst.expressions.HigherOrderFunction;
import org.apache.spark.sql.catalyst.expressions.InSet;
import org.apache.spark.sql.catalyst.expressions.InitCap;
import org.apache.spark.sql.catalyst.expressions.Literal;
import org.apache.spark.sql.catalyst.expressions.Lower;
import org.apache.spark.sql.catalyst.expressions.PlanExpression;
import org.apache.spark.sql.catalyst.expressions.RuntimeReplaceable;
import org.apache.spark.sql.catalyst.expressions.Unevaluable;
import org.apache.spark.sql.catalyst.expressions.Upper;
import org.apache.spark.sql.catalyst.expressions.UserDefinedExpression;
import org.apache.spark.sql.catalyst.util.ArrayData;
import org.apache.spark.sql.catalyst.util.MapData;
import org.apache.spark.sql.classic.SparkSession;
import org.apache.spark.sql.internal.SQLConf;
import org.apache.spark.sql.types.ArrayType;
import org.apache.spark.sql.types.BooleanType;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DateType;
import org.apache.spark.sql.types.Decimal;
import org.apache.spark.sql.types.IntegralType;
import org.apache.spark.sql.types.MapType;
import org.apache.spark.sql.types.Metadata;
import org.apache.spark.sql.types.StringType;
import org.apache.spark.sql.types.StringType$;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.sql.types.UserDefinedType;
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

/**
 * Catalyst expressions as JSON without loss. Catalyst's own toJSON drops what decides an
 * expression's value: evaluation modes, binary literals, the members of InSet, column metadata and
 * result types, and it prints timestamps as local time, which is ambiguous when clocks go back.
 *
 * <p>An expression becomes {"settings": {...}, "nodes": [...]}: its nodes parents first, each with
 * its class (c), number of children (n), data type (t), fields that are not children (f) and, where
 * it must not be understood, the reason code and text (x, s). What cannot be written faithfully is
 * {"lost": class}.
 */
public final class CatalystJson {
    private static final ObjectMapper MAPPER = new ObjectMapper();

    /** Settings that change what an expression computes but are not among its fields. */
    private static final String[] SETTINGS = {
        "spark.sql.icu.caseMappings.enabled", "spark.sql.mapKeyDedupPolicy",
        "spark.sql.columnNameOfCorruptRecord", "spark.sql.binaryOutputStyle"
    };

    /** The same, of all settings with these beginnings; those of Parquet are readers' settings. */
    private static final String[] PREFIXES = {
        "spark.sql.legacy.",
        "spark.sql.json.",
        "spark.sql.csv.",
        "spark.sql.xml.",
        "spark.sql.variant."
    };

    /** Languages in which letters change their case in ways of their own, in Java or in ICU. */
    private static final List CASED =
            Arrays.asList(new Object[] {"tr", "az", "lt", "el", "hy", "nl"});

    /** The expression as it is evaluated by the query that is being planned. */
    public static String write(Expression expression) throws Exception {
        return MAPPER.writeValueAsString(tree(expression));
    }

    /** The same for a session, whichever is the active one of this thread. */
    public static String writeFor(SparkSession session, Expression expression) throws Exception {
        return MAPPER.writeValueAsString(tree(expression, session.sessionState().conf()));
    }

    /** Several expressions, as a list. */
    public static String writeAllFor(SparkSession session, scala.collection.Seq expressions)
            throws Exception {
        List out = new ArrayList();
        Iterator each = expressions.iterator();
        while (each.hasNext()) {
            out.add(tree((Expression) each.next(), session.sessionState().conf()));
        }
        return MAPPER.writeValueAsString(out);
    }

    /** The value as JSON text. */
    public static String text(Object value) throws Exception {
        return MAPPER.writeValueAsString(value);
    }

    public static Map tree(Expression expression) {
        return tree(expression, SQLConf.get());
    }

    private static Map tree(Expression expression, SQLConf conf) {
        List nodes = new ArrayList();
        collect(expression, nodes);
        Map out = new LinkedHashMap();
        out.put("settings", settings(conf));
        out.put("nodes", nodes);
        return out;
    }

    private static Map settings(SQLConf conf) {
        Map out = new TreeMap();
        Iterator set = conf.getAllConfs().iterator();
        while (set.hasNext()) {
            scala.Tuple2 entry = (scala.Tuple2) set.next();
            String key = (String) entry._1();
            boolean matters = false;
            for (int i = 0; i < PREFIXES.length; i++) {
                matters = matters || key.startsWith(PREFIXES[i]) && key.indexOf("parquet") < 0;
            }
            for (int i = 0; i < SETTINGS.length; i++) {
                matters = matters || key.equals(SETTINGS[i]);
            }
            if (matters) {
                out.put(key, entry._2());
            }
        }
        return out;
    }

    private static void collect(Expression written, List out) {
        Expression e = written;
        while (e instanceof RuntimeReplaceable) {
            e = ((RuntimeReplaceable) e).replacement();
        }
        Map node = new LinkedHashMap();
        out.add(node);
        node.put("c", e.getClass().getName());
        String reason = reason(e);
        boolean closed = "SUBQUERY".equals(reason) || "LAMBDA".equals(reason);
        node.put("n", Integer.valueOf(closed ? 0 : e.children().size()));
        if (reason == null && !e.resolved()) {
            reason = "UNSUPPORTED";
        }
        if (reason == null && collated(e.dataType())) {
            reason = "COLLATION";
        }
        if (e.resolved()) {
            node.put("t", e.dataType().json());
        }
        if (reason != null) {
            String text = e.toString();
            node.put("x", reason);
            node.put("s", text.length() > 200 ? text.substring(0, 200) : text);
        }
        if (reason == null || e instanceof AttributeReference) {
            node.put("f", fields(e));
        }
        if (closed) {
            columns(e, node, out);
            return;
        }
        Iterator children = e.children().iterator();
        while (children.hasNext()) {
            collect((Expression) children.next(), out);
        }
    }

    /** Of an expression that is not looked into, only the columns it reads are told. */
    private static void columns(Expression e, Map node, List out) {
        int count = 0;
        Iterator references = e.references().iterator();
        while (references.hasNext()) {
            Object reference = references.next();
            if (reference instanceof AttributeReference) {
                collect((Expression) reference, out);
                count++;
            }
        }
        node.put("n", Integer.valueOf(count));
    }

    private static String reason(Expression e) {
        if (e instanceof AttributeReference || e instanceof Literal) {
            return null;
        }
        if (e instanceof PlanExpression) {
            return "SUBQUERY";
        }
        if (e instanceof UserDefinedExpression || e instanceof ApplyFunctionExpression) {
            return "UDF";
        }
        if (e instanceof HigherOrderFunction) {
            return "LAMBDA";
        }
        if (!e.deterministic()) {
            Iterator children = e.children().iterator();
            while (children.hasNext()) {
                if (!((Expression) children.next()).deterministic()) {
                    return null;
                }
            }
            return "NON_DETERMINISTIC";
        }
        return e instanceof Unevaluable ? "UNSUPPORTED" : null;
    }

    /** Whether a string with a collation of its own is in the type. */
    static boolean collated(DataType type) {
        if (type instanceof StringType) {
            return ((StringType) type).collationId() != StringType$.MODULE$.collationId();
        }
        if (type instanceof ArrayType) {
            return collated(((ArrayType) type).elementType());
        }
        if (type instanceof MapType) {
            return collated(((MapType) type).keyType()) || collated(((MapType) type).valueType());
        }
        if (type instanceof StructType) {
            StructField[] fields = ((StructType) type).fields();
            for (int i = 0; i < fields.length; i++) {
                if (collated(fields[i].dataType())) {
                    return true;
                }
            }
        }
        return type instanceof UserDefinedType && collated(((UserDefinedType) type).sqlType());
    }

    private static Map fields(Expression e) {
        Map out = new LinkedHashMap();
        if (e instanceof Literal) {
            out.put("value", value(((Literal) e).value(), e.dataType()));
            return out;
        }
        if (e instanceof InSet) {
            List members = new ArrayList();
            Iterator set = ((InSet) e).hset().iterator();
            while (set.hasNext()) {
                members.add(value(set.next(), ((InSet) e).child().dataType()));
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
            return value(value, StringType$.MODULE$);
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
        return lost(value);
    }

    private static Object expression(Expression value, Expression owner) {
        int position = 0;
        Iterator children = owner.children().iterator();
        while (children.hasNext()) {
            if (children.next() == value) {
                return one("child", Integer.valueOf(position));
            }
            position++;
        }
        return value instanceof Literal ? one("literal", fields(value)) : lost(value);
    }

    private static Object map(scala.collection.Map value, Expression owner) {
        Map out = new TreeMap();
        Iterator entries = value.iterator();
        while (entries.hasNext()) {
            scala.Tuple2 entry = (scala.Tuple2) entries.next();
            if (!(entry._1() instanceof String)) {
                return lost(value);
            }
            out.put(entry._1(), field(entry._2(), owner));
        }
        return one("map", out);
    }

    /** A case class or a tuple; a Scala object is its class name. */
    private static Object product(Product value, Expression owner) {
        String name = value.getClass().getName();
        if (value.productArity() == 0 && !name.endsWith("$")) {
            return lost(value);
        }
        Map out = new LinkedHashMap();
        out.put("product", name);
        for (int i = 0; i < value.productArity(); i++) {
            out.put(value.productElementName(i), field(value.productElement(i), owner));
        }
        return out;
    }

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

    private static Map lost(Object value) {
        return one("lost", value.getClass().getName());
    }

    private static Map one(String key, Object value) {
        Map out = new LinkedHashMap();
        out.put(key, value);
        return out;
    }
}
