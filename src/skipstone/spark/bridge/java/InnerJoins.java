package skipstone;

import org.apache.spark.sql.catalyst.expressions.Alias;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.expressions.AttributeReference;
import org.apache.spark.sql.catalyst.expressions.DynamicPruningSubquery;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.OuterReference;
import org.apache.spark.sql.catalyst.plans.logical.Filter;
import org.apache.spark.sql.catalyst.plans.logical.Join;
import org.apache.spark.sql.catalyst.plans.logical.JoinHint$;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.Project;
import org.apache.spark.sql.execution.datasources.HadoopFsRelation;
import org.apache.spark.sql.execution.datasources.LogicalRelation;

import scala.Option;
import scala.collection.Iterator;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * A plan of inner joins, filters and projections over scans, taken apart: its rows are those of the
 * product of the leaves that satisfy all conjuncts. Conjuncts and outputs are expressions over the
 * columns of the leaves.
 *
 * <p>A plan of anything else has a {@link #problem}, and then nothing else here says anything.
 */
final class InnerJoins {
    /** Of type LogicalRelation. */
    final List leaves = new ArrayList();

    /** Those of one leaf first, so that what joins compute is only computed for joined rows. */
    final List conjuncts = new ArrayList();

    /** Why the plan is not that simple, as a code and a sentence; null if it is. */
    String[] problem;

    private final Map named = new HashMap();

    static InnerJoins of(LogicalPlan plan) {
        InnerJoins joins = new InnerJoins();
        joins.add(plan);
        return joins;
    }

    private void add(LogicalPlan plan) {
        if (problem != null) {
            return;
        }
        if (plan instanceof Filter) {
            add(((Filter) plan).child());
            where(((Filter) plan).condition());
        } else if (plan instanceof Project) {
            add(((Project) plan).child());
            Iterator each = ((Project) plan).projectList().iterator();
            while (each.hasNext()) {
                name((Expression) each.next());
            }
        } else if (plan instanceof Join) {
            join((Join) plan);
        } else if (plan instanceof LogicalRelation
                && ((LogicalRelation) plan).relation() instanceof HadoopFsRelation
                && !plan.isStreaming()) {
            leaves.add(plan);
        } else {
            refuse("NOT_A_TABLE", "it joins something else than tables: " + plan.nodeName());
        }
    }

    private void join(Join join) {
        String type = join.joinType().toString();
        if (!type.equals("Inner") && !type.equals("Cross")) {
            refuse("NO_INNER_JOIN", "it is a " + join.joinType().sql().toLowerCase() + " join");
        } else if (!join.hint().equals(JoinHint$.MODULE$.NONE())) {
            refuse("HINT", "a hint says how it is to be joined");
        } else {
            add(join.left());
            add(join.right());
            Option condition = join.condition();
            if (condition.isDefined()) {
                where((Expression) condition.get());
            }
        }
    }

    private void where(Expression condition) {
        List parts = new ArrayList();
        ScanQuestion.split(condition, parts);
        for (int i = 0; i < parts.size(); i++) {
            Expression part = (Expression) parts.get(i);
            // What Spark adds to skip by the keys of a join follows from the join.
            if (!(part instanceof DynamicPruningSubquery)) {
                conjuncts.add(checked(resolved(part)));
            }
        }
    }

    private void name(Expression expression) {
        if (expression instanceof Alias) {
            named.put(
                    ((Alias) expression).exprId(), checked(resolved(((Alias) expression).child())));
        } else if (!(expression instanceof AttributeReference)) {
            refuse("NOT_A_TABLE", "it projects " + expression.nodeName());
        }
    }

    private Expression checked(Expression expression) {
        if (!expression.deterministic()) {
            refuse("NON_DETERMINISTIC", "not everything that it computes is deterministic");
        } else if (hasOuter(expression)) {
            refuse("OUTER_REFERENCE", "it depends on the query around it");
        }
        return expression;
    }

    private static boolean hasOuter(Expression expression) {
        if (expression instanceof OuterReference) {
            return true;
        }
        Iterator children = expression.children().iterator();
        while (children.hasNext()) {
            if (hasOuter((Expression) children.next())) {
                return true;
            }
        }
        return false;
    }

    private void refuse(String code, String sentence) {
        if (problem == null) {
            problem = new String[] {code, sentence};
        }
    }

    /** An expression over what the plan puts out as one over the columns of leaves. */
    Expression resolved(Expression expression) {
        return (Expression) new PartnerRows.Resolve(named).apply(expression);
    }

    LogicalRelation leaf(int index) {
        return (LogicalRelation) leaves.get(index);
    }

    /** The number of the leaf that an attribute is of; -1 for none. */
    int leafOf(Expression attribute) {
        for (int i = 0; i < leaves.size(); i++) {
            if (attribute.references().subsetOf(leaf(i).outputSet())) {
                return i;
            }
        }
        return -1;
    }

    /** What an attribute of a leaf is called in its table; queries may spell it otherwise. */
    String nameOf(AttributeReference attribute) {
        Iterator each = leaf(leafOf(attribute)).output().iterator();
        while (each.hasNext()) {
            Attribute known = (Attribute) each.next();
            if (known.exprId().equals(attribute.exprId())) {
                return known.name();
            }
        }
        return attribute.name();
    }

    /** Whether a condition is about one leaf only. */
    boolean isOfOne(Expression condition) {
        return leafOf(condition) >= 0;
    }

    /** The pairs of columns of different leaves that are equal. */
    List equalities() {
        List out = new ArrayList();
        for (int i = 0; i < conjuncts.size(); i++) {
            Expression[] pair = PartnerRows.equality((Expression) conjuncts.get(i));
            if (pair != null && leafOf(pair[0]) != leafOf(pair[1])) {
                out.add(pair);
            }
        }
        return out;
    }

    /** The attributes of a leaf that conjuncts or outputs of the plan need. */
    Set needed(int leaf, LogicalPlan plan) {
        Set out = new LinkedHashSet();
        Iterator attributes = leaf(leaf).output().iterator();
        while (attributes.hasNext()) {
            Attribute attribute = (Attribute) attributes.next();
            boolean needed = false;
            for (int i = 0; i < conjuncts.size(); i++) {
                needed = needed || refers((Expression) conjuncts.get(i), attribute);
            }
            Iterator outputs = plan.output().iterator();
            while (outputs.hasNext() && !needed) {
                needed = refers(resolved((Expression) outputs.next()), attribute);
            }
            if (needed) {
                out.add(attribute);
            }
        }
        return out;
    }

    private static boolean refers(Expression expression, Attribute attribute) {
        return expression.references().contains(attribute);
    }
}
