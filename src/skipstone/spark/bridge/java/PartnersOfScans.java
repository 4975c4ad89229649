package skipstone;

import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.execution.datasources.HadoopFsRelation;
import org.apache.spark.sql.execution.datasources.LogicalRelation;
import org.apache.spark.sql.execution.datasources.parquet.ParquetFileFormat;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import scala.collection.Iterator;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.IdentityHashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * What joins ask of the scans of registered tables, as far as the features of these tables are
 * about the joined ones.
 *
 * <p>The law: whatever goes wrong, nothing is said of joins.
 */
final class PartnersOfScans implements PartnerSource {
    private static final Logger LOG = LoggerFactory.getLogger("skipstone");

    private final TableRegistry tables;
    private final List adapters;
    private final Set wanted = new HashSet();
    private final IdentityHashMap known = new IdentityHashMap();

    private PartnersOfScans(TableRegistry tables, List adapters) {
        this.tables = tables;
        this.adapters = adapters;
    }

    /** By scan, what joins ask of it; each entry as JSON. */
    static IdentityHashMap of(LogicalPlan plan, TableRegistry tables, List adapters) {
        IdentityHashMap out = new IdentityHashMap();
        try {
            PartnersOfScans source = new PartnersOfScans(tables, adapters);
            if (plan.isStreaming() || !source.look(plan)) {
                return out;
            }
            java.util.Iterator found = PartnerFinder.find(plan, source).entrySet().iterator();
            while (found.hasNext()) {
                Map.Entry entry = (Map.Entry) found.next();
                List written = (List) entry.getValue();
                if (!written.isEmpty()) {
                    out.put(entry.getKey(), CatalystJson.text(written));
                }
            }
            return out;
        } catch (VirtualMachineError fatal) {
            throw fatal;
        } catch (Throwable failure) {
            if (failure instanceof InterruptedException) {
                Thread.currentThread().interrupt();
            }
            LOG.warn("skipstone says nothing of the joins of a query: " + failure.getMessage());
            return new IdentityHashMap();
        }
    }

    /** Finds the tables that features of scanned tables are about; false if there are none. */
    private boolean look(LogicalPlan plan) {
        List leaves = new ArrayList();
        Iterator each = plan.collectLeaves().iterator();
        while (each.hasNext()) {
            leaves.add(each.next());
        }
        if (leaves.size() < 2) {
            return false;
        }
        for (int i = 0; i < leaves.size(); i++) {
            ScanAdapter adapter = adapterOf(leaves.get(i));
            if (adapter != null && !adapter.isWriting()) {
                CatalogEntries table = tables.lookup(adapter.root(relationOf(leaves.get(i))));
                if (table != null) {
                    wanted.addAll(table.partners);
                }
            }
        }
        return !wanted.isEmpty();
    }

    static HadoopFsRelation relationOf(Object leaf) {
        return leaf instanceof LogicalRelation
                        && ((LogicalRelation) leaf).relation() instanceof HadoopFsRelation
                ? (HadoopFsRelation) ((LogicalRelation) leaf).relation()
                : null;
    }

    private ScanAdapter adapterOf(Object leaf) {
        return adapterOf(leaf, adapters);
    }

    /** What knows the table that a leaf reads; null if nothing does. */
    static ScanAdapter adapterOf(Object leaf, List adapters) {
        HadoopFsRelation relation = relationOf(leaf);
        if (relation == null || !(relation.fileFormat() instanceof ParquetFileFormat)) {
            return null;
        }
        for (int i = 0; i < adapters.size(); i++) {
            String root = ((ScanAdapter) adapters.get(i)).root(relation);
            if (root != null) {
                return root.length() == 0 ? null : (ScanAdapter) adapters.get(i);
            }
        }
        return null;
    }

    public Map table(LogicalPlan leaf) throws Exception {
        if (!known.containsKey(leaf)) {
            known.put(leaf, described(leaf));
        }
        return (Map) known.get(leaf);
    }

    private Map described(LogicalPlan leaf) throws Exception {
        ScanAdapter adapter = adapterOf(leaf);
        HadoopFsRelation relation = relationOf(leaf);
        if (adapter == null || !wanted.contains(adapter.root(relation))) {
            return null;
        }
        ReaderSettings.check(relation);
        String state = adapter.state(relation);
        if (state == null) {
            return null;
        }
        Map out = new LinkedHashMap();
        out.put("table", adapter.root(relation));
        out.put("state", state);
        out.put("schema", adapter.schema(relation, null));
        return out;
    }
}
