package skipstone;

import java.lang.ref.SoftReference;
import java.lang.ref.WeakReference;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.ExpressionSet;
import org.apache.spark.sql.catalyst.expressions.ExpressionSet$;
import org.apache.spark.sql.classic.SparkSession;
import org.apache.spark.sql.delta.OptimisticTransaction;
import org.apache.spark.sql.delta.Snapshot;
import org.apache.spark.sql.delta.actions.AddFile;
import org.apache.spark.sql.delta.actions.Metadata;
import org.apache.spark.sql.delta.files.TahoeBatchFileIndex;
import org.apache.spark.sql.delta.files.TahoeFileIndex;
import org.apache.spark.sql.delta.files.TahoeLogFileIndex;
import org.apache.spark.sql.delta.stats.DataSize;
import org.apache.spark.sql.delta.stats.DeltaDataSkippingType;
import org.apache.spark.sql.delta.stats.DeltaScan;
import org.apache.spark.sql.delta.stats.PreparedDeltaFileIndex;
import org.apache.spark.sql.execution.datasources.FileIndex;
import org.apache.spark.sql.execution.datasources.HadoopFsRelation;
import scala.Option;
import scala.collection.Iterator;
import scala.collection.immutable.Seq;

/**
 * Delta scans. Delta has chosen its files before skipstone's rule runs, and applies deletion
 * vectors afterwards on anything that is one of its own indexes. So the answer is a prepared
 * Delta index over fewer files, never a wrapper: a wrapper would bring deleted rows back.
 *
 * Only prepared scans are touched. UPDATE, DELETE, MERGE, change feeds and streams use other
 * indexes, and the reads of a transaction are recorded before the rule runs.
 */
public final class SkipstoneDelta implements Skipstone.Adapter {
    public String root(HadoopFsRelation relation) {
        FileIndex location = relation.location();
        if (location instanceof PreparedDeltaFileIndex) {
            return ((PreparedDeltaFileIndex) location).path().toString();
        }
        return location instanceof TahoeFileIndex ? "" : null;
    }

    public String schema(HadoopFsRelation relation, Skipstone.Table table) {
        FileIndex location = relation.location();
        Metadata metadata = location instanceof PreparedDeltaFileIndex
            ? ((PreparedDeltaFileIndex) location).preparedScan().scannedSnapshot().metadata()
            : ((TahoeFileIndex) location).metadata();
        return Skipstone.markedJson(metadata.schemaString(), metadata.schema(), metadata.partitionSchema());
    }

    /** UPDATE, DELETE and MERGE look for their rows in a batch of files; what they write comes from another scan. */
    public String loggedRoot(HadoopFsRelation relation, boolean writing) {
        FileIndex location = relation.location();
        if (location instanceof TahoeBatchFileIndex && !writing) {
            TahoeBatchFileIndex batch = (TahoeBatchFileIndex) location;
            return SEARCHES.contains(batch.actionType()) ? batch.path().toString() : "";
        }
        return root(relation);
    }

    private static final java.util.List SEARCHES =
        java.util.Arrays.asList(new Object[] {"delete", "update", "merge", "batch"});

    public long filesTotal(HadoopFsRelation relation) {
        FileIndex location = relation.location();
        if (location instanceof PreparedDeltaFileIndex) {
            DeltaScan scan = ((PreparedDeltaFileIndex) location).preparedScan();
            return known(scan.total().files(), scan.files().size());
        }
        TahoeBatchFileIndex batch = (TahoeBatchFileIndex) location;
        return known(batch.snapshot().numOfFilesIfKnown(), batch.addFiles().size());
    }

    public String anyRoot(HadoopFsRelation relation) {
        FileIndex location = relation.location();
        return location instanceof TahoeFileIndex ? ((TahoeFileIndex) location).path().toString() : null;
    }

    /** More files than that are left to Delta, which looks for them on all executors. */
    private static final int MOST_FILES = 20000;

    /** What was found out about the newest version of each table. */
    private final ConcurrentHashMap listed = new ConcurrentHashMap();

    /** A version of a table and, unless files of it have no entry in the catalog or memory is scarce, a scan of it. */
    static final class Listed {
        final WeakReference snapshot;
        final long catalog;
        final boolean complete;
        final SoftReference scan;

        Listed(Snapshot snapshot, long catalog, DeltaScan scan, boolean complete) {
            this.snapshot = new WeakReference(snapshot);
            this.catalog = catalog;
            this.complete = complete;
            this.scan = new SoftReference(scan);
        }
    }

    /**
     * Only what Delta would do in the same way: the newest version of a table without partitions, outside of
     * transactions, which keep account of what they read.
     */
    public FileIndex everything(HadoopFsRelation relation, Skipstone.Table table) {
        if (!(relation.location() instanceof TahoeLogFileIndex)) {
            return null;
        }
        TahoeLogFileIndex location = (TahoeLogFileIndex) relation.location();
        boolean looks = ((SparkSession) location.spark()).sessionState().conf()
            .getConfString(SKIPPING, "true").equalsIgnoreCase("true");
        if (!looks || location.isTimeTravelQuery() || !location.partitionFilters().isEmpty()
                || table.size() > MOST_FILES || OptimisticTransaction.getActive().isDefined()) {
            return null;
        }
        Snapshot snapshot = location.getSnapshot();
        if (!snapshot.metadata().partitionColumns().isEmpty()
                || known(snapshot.numOfFilesIfKnown(), 0) > table.size()) {
            return null;
        }
        DeltaScan scan = scanOfAll(snapshot, table);
        return scan == null ? null : new Everything(location, scan);
    }

    private static final String SKIPPING = "spark.databricks.delta.stats.skipping";

    private DeltaScan scanOfAll(Snapshot snapshot, Skipstone.Table table) {
        Listed before = (Listed) listed.get(table.root());
        boolean same = before != null && before.snapshot.get() == snapshot;
        if (same && before.catalog == table.version()) {
            DeltaScan scan = (DeltaScan) before.scan.get();
            if (scan != null || !before.complete) {
                return scan;
            }
        }
        DeltaScan scan = same ? (DeltaScan) before.scan.get() : null;
        if (scan == null) {
            scan = scanOf(snapshot, (AddFile[]) snapshot.allFiles().collect());
        }
        boolean complete = true;
        Iterator files = scan.files().iterator();
        while (complete && files.hasNext()) {
            AddFile file = (AddFile) files.next();
            complete = table.find(file.path(), file.size(), file.modificationTime()) >= 0;
        }
        listed.put(table.root(), new Listed(snapshot, table.version(), complete ? scan : null, complete));
        return complete ? scan : null;
    }

    private static DeltaScan scanOf(Snapshot snapshot, AddFile[] files) {
        scala.collection.mutable.ListBuffer all = new scala.collection.mutable.ListBuffer();
        long bytes = 0;
        for (int i = 0; i < files.length; i++) {
            all.addOne(files[i]);
            bytes += files[i].size();
        }
        DataSize size = new DataSize(
            Option.apply(Long.valueOf(bytes)), Option.empty(), Option.apply(Long.valueOf(files.length)),
            Option.empty());
        ExpressionSet none = ExpressionSet$.MODULE$.apply((scala.collection.IterableOnce) Skipstone.emptySeq());
        return new DeltaScan(
            snapshot.version(), all.toList(), size, size, size, snapshot, none, none, none,
            (scala.collection.immutable.Set) scala.collection.immutable.Set$.MODULE$.empty(), none, 0L,
            DeltaDataSkippingType.noSkippingV1());
    }

    /** All files, to be pruned by the filter as it is when all other rules have run. */
    static final class Everything extends PreparedDeltaFileIndex {
        Everything(TahoeLogFileIndex of, DeltaScan scan) {
            super(of.spark(), of.deltaLog(), of.path(), of.catalogTableOpt(), scan, Option.empty());
        }

        /** What Delta would have prepared. */
        PreparedDeltaFileIndex byDelta(Expression condition) {
            List conjuncts = new ArrayList();
            Skipstone.split(condition, conjuncts);
            scala.collection.mutable.ListBuffer filters = new scala.collection.mutable.ListBuffer();
            for (int i = 0; i < conjuncts.size(); i++) {
                filters.addOne(conjuncts.get(i));
            }
            DeltaScan found = preparedScan().scannedSnapshot().filesForScan(filters.toList(), false);
            return new ByDelta(this, found);
        }
    }

    /** Files that Delta has chosen, and of which the catalog skips none. */
    static final class ByDelta extends PreparedDeltaFileIndex implements Skipstone.Pruned {
        ByDelta(PreparedDeltaFileIndex of, DeltaScan scan) {
            super(of.spark(), of.deltaLog(), of.path(), of.catalogTableOpt(), scan, of.versionScanned());
        }
    }

    public FileIndex prune(HadoopFsRelation relation, Skipstone.Table table, BitSet skip, Skipstone.Scan scan) {
        scan.format = "delta";
        PreparedDeltaFileIndex prepared = (PreparedDeltaFileIndex) relation.location();
        Seq kept = keep(prepared.preparedScan().files(), table, skip, scan);
        if (prepared instanceof Everything && scan.filesKept == scan.filesOffered) {
            // What the catalog cannot judge in this session, Delta perhaps can.
            prepared = ((Everything) prepared).byDelta(scan.condition);
            scan.restart();
            kept = keep(prepared.preparedScan().files(), table, skip, scan);
        }
        DeltaScan before = prepared.preparedScan();
        scan.filesTotal = known(before.total().files(), scan.filesOffered);
        scan.bytesTotal = known(before.total().bytesCompressed(), scan.bytesOffered);
        DataSize scanned = new DataSize(
            Option.apply(Long.valueOf(scan.bytesKept)), Option.empty(), Option.apply(Long.valueOf(scan.filesKept)),
            Option.empty());
        DeltaScan after = new DeltaScan(
            before.version(), kept, before.total(), before.partition(), scanned, before.scannedSnapshot(),
            before.partitionFilters(), before.dataFilters(), before.partitionLikeDataFilters(),
            before.rewrittenPartitionLikeDataFilters(), before.unusedFilters(), before.scanDurationMs(),
            before.dataSkippingType());
        return scan.filesKept == scan.filesOffered ? prepared : new PrunedDelta(prepared, after, table, skip);
    }

    private static long known(Option value, long otherwise) {
        return value.isDefined() ? ((Long) value.get()).longValue() : otherwise;
    }

    static Seq keep(Seq files, Skipstone.Table table, BitSet skip, Skipstone.Scan scan) {
        scala.collection.mutable.ListBuffer kept = new scala.collection.mutable.ListBuffer();
        Iterator all = files.iterator();
        while (all.hasNext()) {
            AddFile file = (AddFile) all.next();
            int entry = table.find(file.path(), file.size(), file.modificationTime());
            if (Skipstone.count(scan, entry, skip, file.size())) {
                kept.addOne(file);
            }
        }
        return kept.toList();
    }

    /** Delta's prepared index over fewer files; also when Delta selects its files again later. */
    static final class PrunedDelta extends PreparedDeltaFileIndex implements Skipstone.Pruned {
        private final Skipstone.Table table;
        private final BitSet skip;
        /** Whether Delta has not looked for files at all. */
        private final boolean alone;

        PrunedDelta(PreparedDeltaFileIndex of, DeltaScan scan, Skipstone.Table table, BitSet skip) {
            super(of.spark(), of.deltaLog(), of.path(), of.catalogTableOpt(), scan, of.versionScanned());
            this.table = table;
            this.skip = skip;
            this.alone = of instanceof Everything;
        }

        public Seq matchingFiles(Seq partitionFilters, Seq dataFilters) {
            if (alone) {
                return preparedScan().files();
            }
            Seq files = super.matchingFiles(partitionFilters, dataFilters);
            return keep(files, table, skip, new Skipstone.Scan());
        }
    }
}
