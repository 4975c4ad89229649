package skipstone;

import org.apache.spark.sql.catalyst.expressions.And;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.plans.logical.Filter;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.Project;
import org.apache.spark.sql.execution.datasources.HadoopFsRelation;
import org.apache.spark.sql.execution.datasources.LogicalRelation;

import scala.collection.Iterator;

import java.util.Collection;
import java.util.HashSet;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Set;

/**
 * What joins read of their tables, and what a scan of a joined replica reads in their place: bytes
 * of the files that are left after skipping, by the share that the needed columns have in a row.
 */
final class JoinedCost {
    /** What joining costs is not in the bytes, so a replica may read somewhat more. */
    private static final double MOST = 2.0;

    private final ScanPruner pruner;

    JoinedCost(ScanPruner pruner) {
        this.pruner = pruner;
    }

    /** Whether a replica reads far more than the tables would. */
    boolean isHigher(LogicalPlan plan, InnerJoins joins, List needed, LogicalPlan found) {
        IdentityHashMap partners = pruner.partners(plan);
        double tables = 0;
        for (int i = 0; i < joins.leaves.size(); i++) {
            LogicalRelation leaf = joins.leaf(i);
            String asked = (String) partners.get(leaf);
            tables += read(leaf, ofLeaf(joins, i), asked, (Collection) needed.get(i));
        }
        LogicalPlan rows = ((Project) found).child();
        boolean filtered = rows instanceof Filter;
        LogicalRelation copy = (LogicalRelation) (filtered ? ((Filter) rows).child() : rows);
        Expression condition = filtered ? ((Filter) rows).condition() : null;
        return read(copy, condition, null, used(copy, (Project) found, condition)) > MOST * tables;
    }

    private double read(
            LogicalRelation scan, Expression condition, String partners, Collection columns) {
        LogicalRelation left =
                condition == null && partners == null
                        ? scan
                        : pruner.pruneUnreported(scan, condition, partners);
        double wanted = 0;
        double all = 0;
        Iterator each = scan.output().iterator();
        while (each.hasNext()) {
            Attribute column = (Attribute) each.next();
            int size = column.dataType().defaultSize();
            all += size;
            wanted += columns.contains(column) ? size : 0;
        }
        long bytes = ((HadoopFsRelation) left.relation()).location().sizeInBytes();
        return all == 0 ? 0 : bytes * wanted / all;
    }

    private static Expression ofLeaf(InnerJoins joins, int leaf) {
        Expression all = null;
        for (int i = 0; i < joins.conjuncts.size(); i++) {
            Expression conjunct = (Expression) joins.conjuncts.get(i);
            if (!conjunct.references().isEmpty()
                    && conjunct.references().subsetOf(joins.leaf(leaf).outputSet())) {
                all = all == null ? conjunct : new And(all, conjunct);
            }
        }
        return all;
    }

    private static Set used(LogicalRelation copy, Project project, Expression condition) {
        Set out = new HashSet();
        Iterator columns = copy.output().iterator();
        while (columns.hasNext()) {
            Attribute column = (Attribute) columns.next();
            if (project.references().contains(column)
                    || condition != null && condition.references().contains(column)) {
                out.add(column);
            }
        }
        return out;
    }
}
