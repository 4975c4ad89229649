package skipstone;

import org.apache.spark.sql.catalyst.expressions.And;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.PlanExpression;
import org.apache.spark.sql.classic.SparkSession;
import org.apache.spark.sql.execution.datasources.HadoopFsRelation;
import org.apache.spark.sql.internal.SQLConf;

import scala.collection.Iterator;

import java.util.List;

/**
 * What Python is asked about a scan: the table, the conjuncts of the filter, settings and schema.
 */
public final class ScanQuestion {
    private ScanQuestion() {}

    /**
     * @param copies what the scan may read of the table's replicas, null for nothing
     */
    static String json(
            CatalogEntries table,
            HadoopFsRelation relation,
            List conjuncts,
            String schema,
            CopyState copies)
            throws Exception {
        return json(table, relation, conjuncts, schema, copies, null);
    }

    /**
     * @param partners what joins ask of the scan, as JSON; null for nothing
     */
    static String json(
            CatalogEntries table,
            HadoopFsRelation relation,
            List conjuncts,
            String schema,
            CopyState copies,
            String partners)
            throws Exception {
        ReaderSettings.check(relation);
        StringBuilder usable = new StringBuilder("[");
        StringBuilder unusable = new StringBuilder("[");
        for (int i = 0; i < conjuncts.size(); i++) {
            Expression conjunct = (Expression) conjuncts.get(i);
            String code =
                    !conjunct.deterministic()
                            ? "NON_DETERMINISTIC"
                            : hasPlan(conjunct) ? "SUBQUERY" : null;
            if (code == null) {
                usable.append(usable.length() == 1 ? "" : ",");
                usable.append(CatalystJson.write(conjunct));
            } else {
                unusable.append(unusable.length() == 1 ? "" : ",");
                unusable.append("[")
                        .append(JsonText.quote(code))
                        .append(",")
                        .append(JsonText.quote(conjunct.toString()))
                        .append("]");
            }
        }
        SQLConf conf = ((SparkSession) relation.sparkSession()).sessionState().conf();
        return "{\"root\":"
                + JsonText.quote(table.root)
                + ",\"version\":"
                + table.version
                + ",\"conjuncts\":"
                + usable
                + "],\"unusable\":"
                + unusable
                + "],\"settings\":"
                + ReaderSettings.json(conf)
                + ",\"schema\":"
                + JsonText.quote(schema)
                + ",\"copies\":"
                + (copies == null ? "null" : copies.json())
                + ",\"partners\":"
                + (partners == null ? "[]" : partners)
                + "}";
    }

    /** Adds the conjuncts of a condition. */
    public static void split(Expression condition, List out) {
        if (condition instanceof And) {
            split(((And) condition).left(), out);
            split(((And) condition).right(), out);
        } else {
            out.add(condition);
        }
    }

    /** Whether an expression depends on another plan. */
    static boolean hasPlan(Expression expression) {
        if (expression instanceof PlanExpression) {
            return true;
        }
        Iterator children = expression.children().iterator();
        while (children.hasNext()) {
            if (hasPlan((Expression) children.next())) {
                return true;
            }
        }
        return false;
    }
}
