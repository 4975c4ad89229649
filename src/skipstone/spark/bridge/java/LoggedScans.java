package skipstone;

import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.execution.datasources.HadoopFsRelation;
import org.apache.spark.sql.execution.datasources.parquet.ParquetFileFormat;

import java.util.List;

/** The scans of finished queries, as the query log has them. */
final class LoggedScans {
    private final TableRegistry tables;
    private final List adapters;

    LoggedScans(TableRegistry tables, List adapters) {
        this.tables = tables;
        this.adapters = adapters;
    }

    /**
     * A scan that was made, as members of a JSON object: "question", "files_total" and "replicas";
     * null when it is no scan of a registered table, or one that skipstone or a command made for
     * itself.
     *
     * @param partners what joins asked of the scan, as JSON; null for nothing
     */
    String describe(HadoopFsRelation scanned, List conjuncts, boolean writing, String partners)
            throws Exception {
        HadoopFsRelation relation = scanned;
        if (scanned.location() instanceof PrunedFiles) {
            PrunedFiles pruned = (PrunedFiles) scanned.location();
            if (pruned.table.version == 0L) {
                return null;
            }
            relation = Relations.reading(scanned, pruned.files, scanned.sparkSession());
        }
        if (!(relation.fileFormat() instanceof ParquetFileFormat)) {
            return null;
        }
        for (int i = 0; i < adapters.size(); i++) {
            ScanAdapter adapter = (ScanAdapter) adapters.get(i);
            String root = adapter.loggedRoot(relation, writing);
            if (root != null) {
                CatalogEntries table = root.length() == 0 ? null : tables.lookup(root);
                return table == null
                        ? null
                        : "\"question\":"
                                + ScanQuestion.json(
                                        table,
                                        relation,
                                        conjuncts,
                                        adapter.schema(relation, table),
                                        null,
                                        partners)
                                + ",\"files_total\":"
                                + adapter.filesTotal(relation)
                                + ",\"replicas\":"
                                + texts(adapter.replicasRead(relation));
            }
        }
        return null;
    }

    /** What the joins of a finished query asked of its scans. */
    LoggedJoins joins(LogicalPlan optimized) throws Exception {
        return LoggedJoins.of(optimized, adapters);
    }

    private static String texts(String[] texts) {
        StringBuilder out = new StringBuilder("[");
        for (int i = 0; i < texts.length; i++) {
            out.append(i == 0 ? "" : ",").append(JsonText.quote(texts[i]));
        }
        return out.append("]").toString();
    }
}
