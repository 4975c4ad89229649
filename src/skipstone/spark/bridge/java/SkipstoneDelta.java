package skipstone;

import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.Path;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.classic.SparkSession;
import org.apache.spark.sql.delta.OptimisticTransaction;
import org.apache.spark.sql.delta.actions.AddFile;
import org.apache.spark.sql.delta.actions.Metadata;
import org.apache.spark.sql.delta.files.TahoeBatchFileIndex;
import org.apache.spark.sql.delta.files.TahoeFileIndex;
import org.apache.spark.sql.delta.files.TahoeLogFileIndex;
import org.apache.spark.sql.delta.stats.DataSize;
import org.apache.spark.sql.delta.stats.DeltaScan;
import org.apache.spark.sql.delta.stats.PreparedDeltaFileIndex;
import org.apache.spark.sql.execution.datasources.FileIndex;
import org.apache.spark.sql.execution.datasources.FileStatusWithMetadata;
import org.apache.spark.sql.execution.datasources.HadoopFsRelation;
import org.apache.spark.sql.execution.datasources.LogicalRelation;
import org.apache.spark.sql.execution.datasources.PartitionDirectory;
import org.apache.spark.sql.types.StructType;

import scala.Option;
import scala.collection.Iterator;
import scala.collection.immutable.Seq;
import scala.collection.mutable.ListBuffer;

import java.net.URI;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
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
    static final String REPLICAS = "/_skipstone/replicas/";

    private final SkipstoneDeltaCopies copies = new SkipstoneDeltaCopies();
    private final SkipstoneDeltaJoined joined = new SkipstoneDeltaJoined();

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

    public String[] replicasRead(HadoopFsRelation relation) {
        FileIndex location = relation.location();
        return location instanceof PrunedDelta
                ? ((PrunedDelta) location).replicas
                : ReplicaEntries.NONE;
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

    /** Delta has encoded paths below the root, and Spark the paths themselves. */
    public int entry(HadoopFsRelation relation, CatalogEntries table, FileStatus file) {
        URI root = URI.create(((TahoeFileIndex) relation.location()).path().toUri() + "/");
        String path = root.relativize(file.getPath().toUri()).toString();
        return table.find(path, file.getLen(), file.getModificationTime());
    }

    public boolean isFixed() {
        return true;
    }

    public String state(HadoopFsRelation relation) {
        FileIndex location = relation.location();
        return location instanceof PreparedDeltaFileIndex
                ? DeltaState.of(
                        ((PreparedDeltaFileIndex) location).preparedScan().scannedSnapshot())
                : null;
    }

    public LogicalRelation open(SparkSession session, String root, String state) throws Exception {
        return joined.open(session, root, state);
    }

    public boolean isWriting() {
        return OptimisticTransaction.getActive().isDefined();
    }

    /** A transaction keeps account of the files that it reads, which are those of the base. */
    public CopyState copies(HadoopFsRelation relation, CatalogEntries table) throws Exception {
        if (table.replicas == null || isWriting()) {
            return null;
        }
        PreparedDeltaFileIndex prepared = (PreparedDeltaFileIndex) relation.location();
        SparkSession session = (SparkSession) relation.sparkSession();
        return copies.state(
                table.replicas,
                prepared.preparedScan().scannedSnapshot(),
                session.sessionState().newHadoopConf());
    }

    public FileIndex prune(
            HadoopFsRelation relation, CatalogEntries table, ScanAnswer answer, DecidedScan scan)
            throws Exception {
        scan.format = "delta";
        PreparedDeltaFileIndex prepared = (PreparedDeltaFileIndex) relation.location();
        boolean copied = !answer.parts.isEmpty();
        SkipstoneDeltaChosen skip =
                new SkipstoneDeltaChosen(
                        table,
                        answer.skip,
                        copied
                                ? SkipstoneDeltaCopies.covered(table.replicas, answer.parts)
                                : Collections.emptySet());
        Seq kept = skip.keep(prepared.preparedScan().files(), null, scan);
        boolean none = !copied && scan.filesKept == scan.filesOffered;
        if (prepared instanceof Everything && (scan.reported || none)) {
            if (none && table.replicas == null && SkipstoneDeltaWhole.enough(scan)) {
                return new SkipstoneDeltaWhole(prepared);
            }
            PreparedDeltaFileIndex other = ((Everything) prepared).byDelta(scan.condition);
            scan.restart();
            // What the catalog cannot judge in this session, Delta perhaps can.
            prepared = none ? other : prepared;
            kept = skip.keep(prepared.preparedScan().files(), none ? null : paths(other), scan);
        }
        DeltaScan before = prepared.preparedScan();
        if (copied) {
            kept = withReplicas(kept, before, table, answer, scan);
        }
        scan.filesTotal = known(before.total().files(), scan.filesOffered);
        scan.bytesTotal = known(before.total().bytesCompressed(), scan.bytesOffered);
        DataSize scanned =
                new DataSize(
                        Option.apply(Long.valueOf(scan.bytesKept + scan.replicaBytesKept)),
                        Option.empty(),
                        Option.apply(Long.valueOf(scan.filesKept + scan.replicaFilesKept)),
                        Option.empty());
        DeltaScan after = SkipstoneDeltaGroups.reading(before, kept, scanned);
        GroupOffer offer = SkipstoneDeltaGroups.offer(table, scan, before);
        if (offer == null && !copied && scan.filesKept == scan.filesOffered) {
            return prepared;
        }
        String[] replicas = copied ? table.replicas.replicasOf(answer.parts) : ReplicaEntries.NONE;
        PrunedDelta pruned = new PrunedDelta(prepared, after, skip, replicas, offer);
        if (copied && scan.reported) {
            pruned.countListed(scan, relation.partitionSchema());
        }
        return pruned;
    }

    /**
     * The base files that are read, and then those of the chosen horizontal partitions. Delta may
     * have left out all base files, by their own statistics; then no row is wanted.
     */
    private static Seq withReplicas(
            Seq kept, DeltaScan before, CatalogEntries table, ScanAnswer answer, DecidedScan scan)
            throws Exception {
        scan.parts = answer.parts;
        if (before.files().isEmpty()) {
            return kept;
        }
        ListBuffer out = new ListBuffer();
        out.addAll(kept);
        Object like = before.files().head();
        SkipstoneDeltaCopies.add(table.replicas, answer, (AddFile) like, out, scan);
        return out.toList();
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

    /** Delta's prepared index over other files; also when Delta selects its files again later. */
    static final class PrunedDelta extends PreparedDeltaFileIndex implements GroupedIndex {
        private static final long serialVersionUID = 1L;

        private final transient SkipstoneDeltaChosen chosen;

        /** The replicas that are read in place of base files. */
        String[] replicas;

        /** Whether Delta has not looked for files at all, or does not know those that are read. */
        private final boolean alone;

        /** What may be read of column groups instead of some of the files; null for nothing. */
        final transient GroupOffer offer;

        PrunedDelta(
                PreparedDeltaFileIndex of,
                DeltaScan scan,
                SkipstoneDeltaChosen chosen,
                String[] replicas,
                GroupOffer offer) {
            this(
                    of,
                    scan,
                    chosen,
                    replicas,
                    offer,
                    replicas.length > 0 || of instanceof Everything);
        }

        private PrunedDelta(
                PreparedDeltaFileIndex of,
                DeltaScan scan,
                SkipstoneDeltaChosen chosen,
                String[] replicas,
                GroupOffer offer,
                boolean alone) {
            super(
                    of.spark(),
                    of.deltaLog(),
                    of.path(),
                    of.catalogTableOpt(),
                    scan,
                    of.versionScanned());
            this.chosen = chosen;
            this.replicas = replicas;
            this.offer = offer;
            this.alone = alone;
        }

        public GroupOffer offer() {
            return offer;
        }

        public Path root() {
            return path();
        }

        public FileIndex withoutFiles() {
            return of(ScalaSeq.empty(), chosen, true);
        }

        public FileIndex without(GroupAsker.GroupAnswer answer) {
            Set covered = SkipstoneDeltaCopies.covered(offer.table.replicas, answer.chosen);
            Set copies = offer.filesOf(answer.replaced);
            Seq kept = SkipstoneDeltaGroups.beside(preparedScan(), covered, copies);
            if (kept.isEmpty()) {
                return null;
            }
            PrunedDelta rest = of(kept, chosen.without(covered), alone);
            rest.replicas = SkipstoneDeltaGroups.replicas(replicas, answer);
            return rest;
        }

        public FileIndex of(String[] read) {
            return new PrunedDelta(this, preparedScan(), chosen, read, null, true);
        }

        /** The same scan of other files, which has no offer any more. */
        private PrunedDelta of(Seq files, SkipstoneDeltaChosen fewer, boolean asTheyAre) {
            DeltaScan scan = SkipstoneDeltaGroups.reading(preparedScan(), files);
            return new PrunedDelta(this, scan, fewer, replicas, null, asTheyAre);
        }

        public void count(FileIndex rest, GroupAsker.GroupAnswer answer, DecidedScan record) {
            SkipstoneDeltaGroups.count(
                    record,
                    answer,
                    offer.table.replicas,
                    preparedScan().files(),
                    rest == null ? ScalaSeq.empty() : ((PrunedDelta) rest).preparedScan().files());
        }

        public StructType stored(StructType columns) {
            return SkipstoneDeltaGroups.stored(preparedScan(), columns);
        }

        public Seq matchingFiles(Seq partitionFilters, Seq dataFilters) {
            if (alone) {
                return preparedScan().files();
            }
            Seq files = super.matchingFiles(partitionFilters, dataFilters);
            return chosen.keep(files, null, new DecidedScan());
        }

        /** Counts the files of replicas once more: those that filters on partitions leave. */
        void countListed(DecidedScan scan, StructType columns) {
            Seq filters = PartitionFilters.among(scan.condition, columns);
            if (filters.isEmpty()) {
                return;
            }
            scan.replicaFilesKept = 0;
            scan.replicaBytesKept = 0;
            Iterator directories = listFiles(filters, ScalaSeq.empty()).iterator();
            while (directories.hasNext()) {
                Iterator files = ((PartitionDirectory) directories.next()).files().iterator();
                while (files.hasNext()) {
                    FileStatusWithMetadata file = (FileStatusWithMetadata) files.next();
                    if (file.getPath().toUri().getPath().contains(REPLICAS)) {
                        scan.replicaFilesKept++;
                        scan.replicaBytesKept += file.fileStatus().getLen();
                    }
                }
            }
        }

        /** Delta has excluded partitions of its own files, but not of a replica's. */
        public Seq listFiles(Seq partitionFilters, Seq dataFilters) {
            Seq found = super.listFiles(partitionFilters, dataFilters);
            return replicas.length > 0
                    ? PartitionFilters.keep(found, partitionFilters, partitionSchema())
                    : found;
        }
    }
}
