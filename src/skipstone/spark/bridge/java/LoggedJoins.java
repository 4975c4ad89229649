package skipstone;

import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.expressions.DynamicPruningSubquery;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.PlanExpression;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.trees.TreePattern;
import org.apache.spark.sql.execution.datasources.HadoopFsRelation;
import org.apache.spark.sql.execution.datasources.LogicalRelation;
import org.apache.spark.sql.execution.datasources.parquet.ParquetFileFormat;

import scala.collection.Iterator;
import scala.collection.immutable.Seq;

import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * What the joins of a finished query asked of its scans, as the query log has it: of any Delta
 * table, in whatever state it was.
 */
final class LoggedJoins implements PartnerSource {
    private static final String UNSURE = "";

    private final List adapters;
    private final IdentityHashMap tables = new IdentityHashMap();

    /** By the id of a column of a scan, what is asked of the scan. */
    private final Map asked = new HashMap();

    private LoggedJoins(List adapters) {
        this.adapters = adapters;
    }

    /** Looks at an optimized plan and its subqueries. */
    static LoggedJoins of(LogicalPlan plan, List adapters) throws Exception {
        LoggedJoins joins = new LoggedJoins(adapters);
        joins.look(plan);
        return joins;
    }

    /** What is asked of a scan that puts out these columns, as JSON; null for nothing. */
    String of(Seq columns) {
        String found = null;
        Iterator each = columns.iterator();
        while (each.hasNext()) {
            Object here = asked.get(((Attribute) each.next()).exprId());
            if (here != null && (UNSURE.equals(here) || found != null && !found.equals(here))) {
                return null;
            }
            found = here == null ? found : (String) here;
        }
        return found;
    }

    private void look(LogicalPlan plan) throws Exception {
        if (plan.containsPattern(TreePattern.JOIN())) {
            java.util.Iterator found = PartnerFinder.find(plan, this).entrySet().iterator();
            while (found.hasNext()) {
                Map.Entry entry = (Map.Entry) found.next();
                remember((LogicalPlan) entry.getKey(), (List) entry.getValue());
            }
        }
        if (plan.containsPattern(TreePattern.PLAN_EXPRESSION())) {
            within(plan);
        }
    }

    /** A scan that stands in two places with the same columns was asked for what both ask. */
    private void remember(LogicalPlan leaf, List partners) throws Exception {
        String written = partners.isEmpty() ? UNSURE : CatalystJson.text(partners);
        Iterator columns = leaf.output().iterator();
        while (columns.hasNext()) {
            Object id = ((Attribute) columns.next()).exprId();
            Object before = asked.get(id);
            asked.put(id, before == null || before.equals(written) ? written : UNSURE);
        }
    }

    private void within(LogicalPlan plan) throws Exception {
        Iterator expressions = plan.expressions().iterator();
        while (expressions.hasNext()) {
            inside((Expression) expressions.next());
        }
        Iterator children = plan.children().iterator();
        while (children.hasNext()) {
            within((LogicalPlan) children.next());
        }
    }

    private void inside(Expression expression) throws Exception {
        // A filter for a join has the plan of the join's other side once more.
        if (expression instanceof DynamicPruningSubquery) {
            return;
        }
        if (expression instanceof PlanExpression
                && ((PlanExpression) expression).plan() instanceof LogicalPlan) {
            look((LogicalPlan) ((PlanExpression) expression).plan());
        }
        Iterator children = expression.children().iterator();
        while (children.hasNext()) {
            inside((Expression) children.next());
        }
    }

    public Map table(LogicalPlan leaf) throws Exception {
        if (!tables.containsKey(leaf)) {
            tables.put(leaf, described(leaf));
        }
        return (Map) tables.get(leaf);
    }

    private Map described(LogicalPlan leaf) throws Exception {
        if (!(leaf instanceof LogicalRelation)
                || !(((LogicalRelation) leaf).relation() instanceof HadoopFsRelation)) {
            return null;
        }
        HadoopFsRelation relation = (HadoopFsRelation) ((LogicalRelation) leaf).relation();
        for (int i = 0; i < adapters.size(); i++) {
            ScanAdapter adapter = (ScanAdapter) adapters.get(i);
            String root = adapter.root(relation);
            if (root != null) {
                boolean can =
                        root.length() > 0
                                && adapter.isFixed()
                                && relation.fileFormat() instanceof ParquetFileFormat;
                return can ? written(root, adapter.schema(relation, null)) : null;
            }
        }
        return null;
    }

    private static Map written(String root, String schema) {
        Map out = new LinkedHashMap();
        out.put("table", root);
        out.put("state", "");
        out.put("schema", schema);
        return out;
    }
}
