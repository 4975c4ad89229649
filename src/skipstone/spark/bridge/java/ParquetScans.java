package skipstone;

import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.Path;
import org.apache.spark.sql.classic.SparkSession;
import org.apache.spark.sql.execution.datasources.CatalogFileIndex;
import org.apache.spark.sql.execution.datasources.FileIndex;
import org.apache.spark.sql.execution.datasources.FileStatusWithMetadata;
import org.apache.spark.sql.execution.datasources.HadoopFsRelation;
import org.apache.spark.sql.execution.datasources.LogicalRelation;
import org.apache.spark.sql.execution.datasources.PartitionDirectory;
import org.apache.spark.sql.execution.datasources.PartitioningAwareFileIndex;

import scala.collection.Iterator;
import scala.collection.immutable.Seq;

import java.util.BitSet;
import java.util.HashSet;
import java.util.Set;

/** Scans of plain Parquet files. */
final class ParquetScans implements ScanAdapter {
    public String root(HadoopFsRelation relation) {
        FileIndex location = relation.location();
        if (!(location instanceof PartitioningAwareFileIndex
                || location instanceof CatalogFileIndex)) {
            return null;
        }
        Seq roots = (Seq) location.rootPaths();
        if (roots.isEmpty()) {
            return null;
        }
        // Of a table whose partitions were chosen from a metastore, the roots are these
        // partitions.
        Path common = (Path) roots.head();
        Iterator others = roots.iterator();
        while (others.hasNext()) {
            Path other = (Path) others.next();
            while (common != null && !within(common, other)) {
                common = common.getParent();
            }
        }
        return common == null ? null : common.toString();
    }

    private static boolean within(Path above, Path path) {
        return (path + "/").startsWith(above + "/");
    }

    /**
     * A partition's value follows from its path only when the table's root is what is read, and
     * read as partitioned. A metastore may say otherwise, and where a path is not looked at, a
     * column of that name may be stored in the files.
     */
    public String schema(HadoopFsRelation relation, CatalogEntries table) {
        Seq roots = (Seq) relation.location().rootPaths();
        boolean whole = roots.size() == 1 && roots.head().toString().equals(table.root);
        Set partitions = TableSchema.lowerCase(relation.partitionSchema().fieldNames());
        Set doubtful = new HashSet(table.partitions);
        if (whole && !(relation.location() instanceof CatalogFileIndex)) {
            doubtful.removeAll(partitions);
        } else {
            doubtful.addAll(partitions);
        }
        return TableSchema.marked(
                        TableSchema.without(relation.schema(), doubtful),
                        relation.partitionSchema())
                .json();
    }

    public String loggedRoot(HadoopFsRelation relation, boolean writing) {
        return root(relation);
    }

    public String[] replicasRead(HadoopFsRelation relation) {
        return ReplicaEntries.NONE;
    }

    public long filesTotal(HadoopFsRelation relation) {
        FileIndex location = relation.location();
        return location instanceof PartitioningAwareFileIndex
                ? ((PartitioningAwareFileIndex) location).allFiles().size()
                : location.inputFiles().length;
    }

    /** Replicas are made of Delta tables only. */
    public CopyState copies(HadoopFsRelation relation, CatalogEntries table) {
        return null;
    }

    public int entry(HadoopFsRelation relation, CatalogEntries table, FileStatus file) {
        return PrunedFiles.entry(table, file);
    }

    public boolean isFixed() {
        return false;
    }

    /** Files that somebody may overwrite at any moment. */
    public String state(HadoopFsRelation relation) {
        return null;
    }

    public LogicalRelation open(SparkSession session, String root, String state) {
        return null;
    }

    public boolean isWriting() {
        return false;
    }

    public FileIndex prune(
            HadoopFsRelation relation, CatalogEntries table, ScanAnswer answer, DecidedScan scan) {
        BitSet skip = answer.skip;
        scan.format = "parquet";
        PrunedFiles index = new PrunedFiles(relation.location(), table, skip);
        Iterator directories =
                relation.location().listFiles(ScalaSeq.empty(), ScalaSeq.empty()).iterator();
        while (directories.hasNext()) {
            Iterator files = ((PartitionDirectory) directories.next()).files().iterator();
            while (files.hasNext()) {
                FileStatus file = ((FileStatusWithMetadata) files.next()).fileStatus();
                scan.count(PrunedFiles.entry(table, file), skip, file.getLen());
            }
        }
        scan.filesTotal = scan.filesOffered;
        scan.bytesTotal = scan.bytesOffered;
        index.size = scan.bytesKept;
        return scan.filesKept == scan.filesOffered ? relation.location() : index;
    }
}
