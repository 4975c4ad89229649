package skipstone;

import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.delta.actions.AddFile;
import org.apache.spark.sql.delta.actions.Metadata;
import org.apache.spark.sql.delta.files.TahoeBatchFileIndex;
import org.apache.spark.sql.delta.files.TahoeFileIndex;
import org.apache.spark.sql.delta.files.TahoeLogFileIndex;
import org.apache.spark.sql.delta.stats.DataSize;
import org.apache.spark.sql.delta.stats.DeltaScan;
import org.apache.spark.sql.delta.stats.PreparedDeltaFileIndex;
import org.apache.spark.sql.execution.datasources.FileIndex;
import org.apache.spark.sql.execution.datasources.HadoopFsRelation;

import scala.Option;
import scala.collection.Iterator;
import scala.collection.immutable.Seq;
import scala.collection.mutable.ListBuffer;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * Delta scans. Delta, or SkipstoneEarly, has chosen the files before skipstone's rule runs, and
 * Delta applies deletion vectors afterwards on anything that is one of its own indexes. So the
 * answer is a prepared Delta index over fewer files, never a wrapper: a wrapper would bring deleted
 * rows back.
 *
 * <p>Only prepared scans are touched. UPDATE, DELETE, MERGE, change feeds and streams use other
 * indexes, and the reads of a transaction are recorded before the rule runs.
 */
public final class SkipstoneDelta implements ScanAdapter {
    public String root(HadoopFsRelation relation) {
        FileIndex location = relation.location();
        if (location instanceof PreparedDeltaFileIndex) {
            return ((PreparedDeltaFileIndex) location).path().toString();
        }
        return location instanceof TahoeFileIndex ? "" : null;
    }

    public String schema(HadoopFsRelation relation, CatalogEntries table) {
        FileIndex location = relation.location();
        Metadata metadata =
                location instanceof PreparedDeltaFileIndex
                        ? ((PreparedDeltaFileIndex) location)
                                .preparedScan()
                                .scannedSnapshot()
                                .metadata()
                        : ((TahoeFileIndex) location).metadata();
        return TableSchema.markedJson(
                metadata.schemaString(), metadata.schema(), metadata.partitionSchema());
    }

    /**
     * UPDATE, DELETE and MERGE look for their rows in a batch of files; what they write comes from
     * another scan.
     */
    public String loggedRoot(HadoopFsRelation relation, boolean writing) {
        FileIndex location = relation.location();
        if (location instanceof TahoeBatchFileIndex && !writing) {
            TahoeBatchFileIndex batch = (TahoeBatchFileIndex) location;
            return SEARCHES.contains(batch.actionType()) ? batch.path().toString() : "";
        }
        return root(relation);
    }

    private static final List SEARCHES =
            Arrays.asList(new Object[] {"delete", "update", "merge", "batch"});

    public long filesTotal(HadoopFsRelation relation) {
        FileIndex location = relation.location();
        if (location instanceof PreparedDeltaFileIndex) {
            DeltaScan scan = ((PreparedDeltaFileIndex) location).preparedScan();
            return known(scan.total().files(), scan.files().size());
        }
        TahoeBatchFileIndex batch = (TahoeBatchFileIndex) location;
        return known(batch.snapshot().numOfFilesIfKnown(), batch.addFiles().size());
    }

    /** All files, to be pruned by the filter as it is when all other rules have run. */
    public static final class Everything extends PreparedDeltaFileIndex {
        private static final long serialVersionUID = 1L;

        public Everything(TahoeLogFileIndex of, DeltaScan scan) {
            super(of.spark(), of.deltaLog(), of.path(), of.catalogTableOpt(), scan, Option.empty());
        }

        /** What Delta would have prepared. */
        PreparedDeltaFileIndex byDelta(Expression condition) {
            List conjuncts = new ArrayList();
            ScanQuestion.split(condition, conjuncts);
            ListBuffer filters = new ListBuffer();
            for (int i = 0; i < conjuncts.size(); i++) {
                filters.addOne(conjuncts.get(i));
            }
            DeltaScan found =
                    preparedScan().scannedSnapshot().filesForScan(filters.toList(), false);
            return new ByDelta(this, found);
        }
    }

    /** Files that Delta has chosen, and of which the catalog skips none. */
    static final class ByDelta extends PreparedDeltaFileIndex implements PrunedIndex {
        private static final long serialVersionUID = 1L;

        ByDelta(PreparedDeltaFileIndex of, DeltaScan scan) {
            super(
                    of.spark(),
                    of.deltaLog(),
                    of.path(),
                    of.catalogTableOpt(),
                    scan,
                    of.versionScanned());
        }
    }

    public FileIndex prune(
            HadoopFsRelation relation, CatalogEntries table, BitSet skip, DecidedScan scan) {
        scan.format = "delta";
        PreparedDeltaFileIndex prepared = (PreparedDeltaFileIndex) relation.location();
        Seq kept = keep(prepared.preparedScan().files(), null, table, skip, scan);
        if (prepared instanceof Everything
                && (scan.reported || scan.filesKept == scan.filesOffered)) {
            PreparedDeltaFileIndex other = ((Everything) prepared).byDelta(scan.condition);
            boolean none = scan.filesKept == scan.filesOffered;
            scan.restart();
            if (none) {
                // What the catalog cannot judge in this session, Delta perhaps can.
                prepared = other;
                kept = keep(prepared.preparedScan().files(), null, table, skip, scan);
            } else {
                kept = keep(prepared.preparedScan().files(), paths(other), table, skip, scan);
            }
        }
        DeltaScan before = prepared.preparedScan();
        scan.filesTotal = known(before.total().files(), scan.filesOffered);
        scan.bytesTotal = known(before.total().bytesCompressed(), scan.bytesOffered);
        DataSize scanned =
                new DataSize(
                        Option.apply(Long.valueOf(scan.bytesKept)),
                        Option.empty(),
                        Option.apply(Long.valueOf(scan.filesKept)),
                        Option.empty());
        DeltaScan after =
                new DeltaScan(
                        before.version(),
                        kept,
                        before.total(),
                        before.partition(),
                        scanned,
                        before.scannedSnapshot(),
                        before.partitionFilters(),
                        before.dataFilters(),
                        before.partitionLikeDataFilters(),
                        before.rewrittenPartitionLikeDataFilters(),
                        before.unusedFilters(),
                        before.scanDurationMs(),
                        before.dataSkippingType());
        return scan.filesKept == scan.filesOffered
                ? prepared
                : new PrunedDelta(prepared, after, table, skip);
    }

    private static long known(Option value, long otherwise) {
        return value.isDefined() ? ((Long) value.get()).longValue() : otherwise;
    }

    private static Set paths(PreparedDeltaFileIndex index) {
        Set out = new HashSet();
        Iterator files = index.preparedScan().files().iterator();
        while (files.hasNext()) {
            out.add(((AddFile) files.next()).path());
        }
        return out;
    }

    /**
     * The files that are not skipped; those that Delta leaves out by itself, if it is known, are
     * not offered.
     */
    static Seq keep(Seq files, Set byDelta, CatalogEntries table, BitSet skip, DecidedScan scan) {
        ListBuffer kept = new ListBuffer();
        Iterator all = files.iterator();
        while (all.hasNext()) {
            AddFile file = (AddFile) all.next();
            int entry = table.find(file.path(), file.size(), file.modificationTime());
            boolean skipped = entry >= 0 && skip.get(entry);
            if (skipped && byDelta != null && !byDelta.contains(file.path())) {
                continue;
            }
            if (scan.count(entry, skip, file.size())) {
                kept.addOne(file);
            }
        }
        return kept.toList();
    }

    /** Delta's prepared index over fewer files; also when Delta selects its files again later. */
    static final class PrunedDelta extends PreparedDeltaFileIndex implements PrunedIndex {
        private static final long serialVersionUID = 1L;

        private final CatalogEntries table;
        private final BitSet skip;

        /** Whether Delta has not looked for files at all. */
        private final boolean alone;

        PrunedDelta(PreparedDeltaFileIndex of, DeltaScan scan, CatalogEntries table, BitSet skip) {
            super(
                    of.spark(),
                    of.deltaLog(),
                    of.path(),
                    of.catalogTableOpt(),
                    scan,
                    of.versionScanned());
            this.table = table;
            this.skip = skip;
            this.alone = of instanceof Everything;
        }

        public Seq matchingFiles(Seq partitionFilters, Seq dataFilters) {
            if (alone) {
                return preparedScan().files();
            }
            Seq files = super.matchingFiles(partitionFilters, dataFilters);
            return keep(files, null, table, skip, new DecidedScan());
        }
    }
}
