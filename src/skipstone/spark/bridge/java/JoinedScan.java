package skipstone;

import org.apache.spark.sql.catalyst.expressions.Alias;
import org.apache.spark.sql.catalyst.expressions.And;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.expressions.AttributeReference;
import org.apache.spark.sql.catalyst.expressions.EqualTo;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.IsNotNull;
import org.apache.spark.sql.catalyst.expressions.Literal$;
import org.apache.spark.sql.catalyst.plans.logical.Filter;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.Project;
import org.apache.spark.sql.execution.datasources.LogicalRelation;

import scala.Option;
import scala.collection.Iterator;
import scala.collection.mutable.ListBuffer;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Inner joins as a filter and a projection over a joined replica. What was put out is put out under
 * the same ids, so nothing above notices.
 */
final class JoinedScan {
    private final Map named = new HashMap();

    private JoinedScan() {}

    /**
     * Null if the replica does not have a column that it should have, of the same type.
     *
     * @param needed for each leaf the columns that are needed
     * @param answer for each leaf where they are, and the columns that say that a row has partners
     */
    static LogicalPlan of(
            LogicalPlan plan, InnerJoins joins, List needed, LogicalRelation copy, Map answer) {
        JoinedScan scan = new JoinedScan();
        List columns = (List) answer.get("columns");
        for (int i = 0; i < needed.size(); i++) {
            List attributes = (List) needed.get(i);
            for (int k = 0; k < attributes.size(); k++) {
                AttributeReference attribute = (AttributeReference) attributes.get(k);
                Object name = ((Map) columns.get(i)).get(attribute.name());
                Attribute found = column(copy, (String) name);
                if (found == null || !found.dataType().equals(attribute.dataType())) {
                    return null;
                }
                scan.named.put(attribute.exprId(), found);
            }
        }
        List conditions = new ArrayList();
        List present = (List) answer.get("present");
        for (int i = 0; i < present.size(); i++) {
            Attribute flag = column(copy, (String) present.get(i));
            if (flag == null) {
                return null;
            }
            conditions.add(new EqualTo(flag, Literal$.MODULE$.TrueLiteral()));
        }
        scan.add(joins, true, conditions);
        scan.add(joins, false, conditions);
        LogicalPlan rows = copy;
        if (!conditions.isEmpty()) {
            Expression all = (Expression) conditions.get(0);
            for (int i = 1; i < conditions.size(); i++) {
                all = new And(all, (Expression) conditions.get(i));
            }
            rows = new Filter(all, copy);
        }
        ListBuffer out = new ListBuffer();
        Iterator outputs = plan.output().iterator();
        while (outputs.hasNext()) {
            Attribute output = (Attribute) outputs.next();
            out.addOne(
                    new Alias(
                            scan.moved(joins.resolved(output)),
                            output.name(),
                            output.exprId(),
                            output.qualifier(),
                            Option.apply(output.metadata()),
                            ScalaSeq.empty()));
        }
        return new Project(out.toList(), rows);
    }

    /** Conditions on one table first: what is about several may fail on rows that do not join. */
    private void add(InnerJoins joins, boolean ofOne, List out) {
        for (int i = 0; i < joins.conjuncts.size(); i++) {
            Expression conjunct = (Expression) joins.conjuncts.get(i);
            if (joins.isOfOne(conjunct) == ofOne) {
                addNew(simple(moved(conjunct)), out);
            }
        }
    }

    /** Keys that are equal are one column of the copy, so what is said of both is said twice. */
    private static void addNew(Expression condition, List out) {
        for (int i = 0; i < out.size(); i++) {
            if (((Expression) out.get(i)).semanticEquals(condition)) {
                return;
            }
        }
        out.add(condition);
    }

    /** A key that equals itself is not NULL. */
    private static Expression simple(Expression condition) {
        Expression[] pair = PartnerRows.equality(condition);
        return pair != null && pair[0].semanticEquals(pair[1]) ? new IsNotNull(pair[0]) : condition;
    }

    private Expression moved(Expression expression) {
        return (Expression) new PartnerRows.Resolve(named).apply(expression);
    }

    private static Attribute column(LogicalRelation copy, String name) {
        Iterator each = copy.output().iterator();
        while (each.hasNext()) {
            Attribute attribute = (Attribute) each.next();
            if (attribute.name().equals(name)) {
                return attribute;
            }
        }
        return null;
    }
}
