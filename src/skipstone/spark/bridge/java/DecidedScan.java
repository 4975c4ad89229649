package skipstone;

import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.execution.datasources.FileIndex;
import org.apache.spark.sql.execution.datasources.HadoopFsRelation;
import org.apache.spark.sql.execution.datasources.LogicalRelation;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;

/** What was decided about one scan; read by explain, replay and the query log. */
public final class DecidedScan {
    private static final Logger LOG = LoggerFactory.getLogger("skipstone");

    public String root;
    public long version;
    public String question = "";
    public String failure = "";
    public String format = "";
    public long filesTotal;
    public long bytesTotal;
    public long filesOffered;
    public long bytesOffered;
    public long filesKept;
    public long bytesKept;
    public long filesUnindexed;
    public long bytesUnindexed;

    /** Base files that are not read because a replica holds their rows. */
    public long filesReplaced;

    public long bytesReplaced;

    /** Files of replicas that are read, and all those of the horizontal partitions that are. */
    public long replicaFilesKept;

    public long replicaBytesKept;
    public long replicaFiles;
    public BitSet parts = new BitSet();
    public BitSet offered = new BitSet();
    public BitSet skipped = new BitSet();
    public LogicalRelation relation;

    /** What the scan may read of the table's replicas. */
    CopyState copies;

    /** Whether it may be read from column groups, which is decided at planning. */
    boolean mayReadGroups;

    /** What is read of column groups, as JSON; empty if none. */
    public String groups = "";

    /** How tuples of groups are put together, as JSON. */
    String groupJoins = "null";

    /** What was decided about joins, each as JSON. */
    final List joins = new ArrayList();

    CatalogEntries table;

    /** What joins ask of the scan, as JSON; null for nothing. */
    String partners;

    /** Whether files of replicas may be read in place of the base files. */
    boolean anyCopy;

    public Expression condition;

    /** Whether somebody wants to know what was decided, and not only its result. */
    public boolean reported;

    /** Forgets the figures, for files that are counted anew. */
    public void restart() {
        filesOffered = 0;
        bytesOffered = 0;
        filesKept = 0;
        bytesKept = 0;
        filesUnindexed = 0;
        bytesUnindexed = 0;
        filesReplaced = 0;
        bytesReplaced = 0;
        offered.clear();
        skipped.clear();
    }

    /** Everything but the bits, as JSON. */
    public String summary() {
        return "{\"root\":"
                + JsonText.quote(String.valueOf(root))
                + ",\"version\":"
                + version
                + ",\"format\":"
                + JsonText.quote(format)
                + ",\"question\":"
                + (question.length() == 0 ? "null" : question)
                + ",\"failure\":"
                + JsonText.quote(failure)
                + ",\"files_total\":"
                + filesTotal
                + ",\"bytes_total\":"
                + bytesTotal
                + ",\"files_offered\":"
                + filesOffered
                + ",\"bytes_offered\":"
                + bytesOffered
                + ",\"files_kept\":"
                + filesKept
                + ",\"bytes_kept\":"
                + bytesKept
                + ",\"files_unindexed\":"
                + filesUnindexed
                + ",\"bytes_unindexed\":"
                + bytesUnindexed
                + ",\"files_replaced\":"
                + filesReplaced
                + ",\"bytes_replaced\":"
                + bytesReplaced
                + ",\"replica_files_kept\":"
                + replicaFilesKept
                + ",\"replica_bytes_kept\":"
                + replicaBytesKept
                + ",\"replica_files\":"
                + replicaFiles
                + ",\"parts\":"
                + CopyState.numbers(parts)
                + ",\"partitions\":["
                + partitions()
                + "],\"groups\":"
                + (groups.length() == 0 ? "null" : groups)
                + ",\"group_joins\":"
                + groupJoins
                + ",\"joins\":"
                + joins
                + "}";
    }

    /** The names of the columns that the table is partitioned by. */
    private String partitions() {
        if (relation == null) {
            return "";
        }
        String[] names = ((HadoopFsRelation) relation.relation()).partitionSchema().fieldNames();
        StringBuilder out = new StringBuilder();
        for (int i = 0; i < names.length; i++) {
            out.append(i == 0 ? "" : ",").append(JsonText.quote(names[i]));
        }
        return out.toString();
    }

    /** Positions of the catalog entries that this scan was offered, as little-endian bits. */
    public byte[] offeredBits() {
        return offered.toByteArray();
    }

    public byte[] skippedBits() {
        return skipped.toByteArray();
    }

    /** Adds one offered file to the figures, and says whether it is read. */
    public boolean count(int entry, BitSet skip, long size) {
        boolean kept = entry < 0 || !skip.get(entry);
        filesOffered++;
        bytesOffered += size;
        if (kept) {
            filesKept++;
            bytesKept += size;
        }
        if (entry < 0) {
            filesUnindexed++;
            bytesUnindexed += size;
        } else {
            offered.set(entry);
            if (!kept) {
                skipped.set(entry);
            }
        }
        return kept;
    }

    /** Adds a base file that is not read because a replica holds its rows. */
    public void countReplaced(int entry, long size) {
        filesOffered++;
        bytesOffered += size;
        filesReplaced++;
        bytesReplaced += size;
        if (entry >= 0) {
            offered.set(entry);
        }
    }

    /** Adds a file of a replica. */
    public void countReplica(boolean kept, long size) {
        replicaFiles++;
        if (kept) {
            replicaFilesKept++;
            replicaBytesKept += size;
        }
    }

    /** The figures of a scan that reads whatever it would read without us. */
    public void countAll(FileIndex files) {
        offered.clear();
        skipped.clear();
        try {
            long count = files.inputFiles().length;
            long size = files.sizeInBytes();
            filesTotal = count;
            filesOffered = count;
            filesKept = count;
            bytesTotal = size;
            bytesOffered = size;
            bytesKept = size;
        } catch (Exception unlisted) {
            LOG.warn("skipstone cannot list " + root + ": " + unlisted);
        }
    }
}
