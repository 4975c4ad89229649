package skipstone;

import org.apache.spark.sql.catalyst.analysis.ExpressionWithUnresolvedIdentifier;
import org.apache.spark.sql.catalyst.analysis.PlanWithUnresolvedIdentifier;
import org.apache.spark.sql.catalyst.analysis.UnresolvedFunction;
import org.apache.spark.sql.catalyst.analysis.UnresolvedRelation;
import org.apache.spark.sql.catalyst.analysis.UnresolvedTableValuedFunction;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.UnresolvedWith;
import org.apache.spark.sql.catalyst.trees.TreeNode;
import org.apache.spark.sql.classic.Dataset;
import org.apache.spark.sql.classic.SparkSession;
import org.apache.spark.sql.execution.datasources.HadoopFsRelation;
import org.apache.spark.sql.execution.datasources.LogicalRelation;

import scala.Option;
import scala.Product;
import scala.collection.Iterator;
import scala.collection.immutable.Seq;

import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

/**
 * What a query is made of, for whoever decides whether it may run: the names in Spark's parsed
 * plan, known before analysis looks anything up, and the leaves and expressions of the analysed
 * one.
 *
 * <p>Each thing is a text: its kind, a zero character, and its parts, separated by zero characters.
 */
public final class QueryGuard {
    /**
     * The relations, functions and common table expressions that a statement names, in subqueries
     * too, and "identifier" if a name is computed.
     */
    public List named(SparkSession session, String sql) throws Exception {
        Set out = new LinkedHashSet();
        named(session.sessionState().sqlParser().parsePlan(sql), out);
        return new ArrayList(out);
    }

    private static void named(Object value, Set out) {
        if (value instanceof UnresolvedRelation) {
            out.add("relation" + joined(((UnresolvedRelation) value).multipartIdentifier()));
            if (((UnresolvedRelation) value).isStreaming()) {
                out.add("streaming");
            }
        } else if (value instanceof UnresolvedFunction) {
            out.add("function" + joined(((UnresolvedFunction) value).nameParts()));
        } else if (value instanceof UnresolvedTableValuedFunction) {
            out.add("table function" + joined(((UnresolvedTableValuedFunction) value).name()));
        } else if (value instanceof ExpressionWithUnresolvedIdentifier
                || value instanceof PlanWithUnresolvedIdentifier) {
            out.add("identifier");
        } else if (value instanceof UnresolvedWith) {
            Iterator defined = ((UnresolvedWith) value).cteRelations().iterator();
            while (defined.hasNext()) {
                out.add("defined\0" + ((Product) defined.next()).productElement(0));
            }
        }
        Iterator parts = null;
        if (value instanceof TreeNode
                || value instanceof Option
                || value instanceof scala.Tuple2
                || value instanceof scala.Tuple3) {
            parts = ((Product) value).productIterator();
        } else if (value instanceof scala.collection.Iterable) {
            parts = ((scala.collection.Iterable) value).iterator();
        }
        while (parts != null && parts.hasNext()) {
            named(parts.next(), out);
        }
    }

    private static String joined(Seq parts) {
        StringBuilder out = new StringBuilder();
        Iterator each = parts.iterator();
        while (each.hasNext()) {
            out.append('\0').append(each.next());
        }
        return out.toString();
    }

    /**
     * The leaves of an analysed plan ("files" with their root paths, else "leaf" with its class)
     * and the classes of its expressions, in subqueries too.
     */
    public List analysed(Dataset frame) {
        Set out = new LinkedHashSet();
        analysed(frame.queryExecution().analyzed(), out);
        return new ArrayList(out);
    }

    private static void analysed(LogicalPlan plan, Set out) {
        if (plan.isStreaming()) {
            out.add("streaming");
        }
        if (plan instanceof LogicalRelation
                && ((LogicalRelation) plan).relation() instanceof HadoopFsRelation) {
            HadoopFsRelation relation = (HadoopFsRelation) ((LogicalRelation) plan).relation();
            out.add("files" + joined(relation.location().rootPaths().toSeq()));
        } else if (plan.children().isEmpty()) {
            out.add("leaf\0" + plan.getClass().getName());
        } else {
            out.add("node\0" + plan.getClass().getName());
        }
        Iterator expressions = plan.expressions().iterator();
        while (expressions.hasNext()) {
            classes((Expression) expressions.next(), out);
        }
        Iterator children = plan.children().iterator();
        while (children.hasNext()) {
            analysed((LogicalPlan) children.next(), out);
        }
        Iterator inner = plan.innerChildren().iterator();
        while (inner.hasNext()) {
            Object each = inner.next();
            if (each instanceof LogicalPlan) {
                analysed((LogicalPlan) each, out);
            }
        }
        Iterator subqueries = plan.subqueries().iterator();
        while (subqueries.hasNext()) {
            analysed((LogicalPlan) subqueries.next(), out);
        }
    }

    private static void classes(Expression expression, Set out) {
        out.add("expression\0" + expression.getClass().getName());
        Iterator children = expression.children().iterator();
        while (children.hasNext()) {
            classes((Expression) children.next(), out);
        }
    }
}
