package skipstone;

import com.fasterxml.jackson.databind.ObjectMapper;

import org.apache.spark.sql.catalyst.expressions.ApplyFunctionExpression;
import org.apache.spark.sql.catalyst.expressions.AttributeReference;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.HigherOrderFunction;
import org.apache.spark.sql.catalyst.expressions.Literal;
import org.apache.spark.sql.catalyst.expressions.PlanExpression;
import org.apache.spark.sql.catalyst.expressions.RuntimeReplaceable;
import org.apache.spark.sql.catalyst.expressions.Unevaluable;
import org.apache.spark.sql.catalyst.expressions.UserDefinedExpression;
import org.apache.spark.sql.classic.SparkSession;
import org.apache.spark.sql.internal.SQLConf;
import org.apache.spark.sql.types.ArrayType;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.MapType;
import org.apache.spark.sql.types.StringType;
import org.apache.spark.sql.types.StringType$;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.sql.types.UserDefinedType;

import scala.collection.Iterator;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
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
            node.put("f", CatalystFields.of(e));
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

    /** Of an expression that is not looked into, only the columns it reads are written. */
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
}
