package skipstone;

import org.apache.hadoop.fs.FileStatus;
import org.apache.spark.sql.execution.datasources.FileIndex;
import org.apache.spark.sql.execution.datasources.FileStatusWithMetadata;
import org.apache.spark.sql.execution.datasources.PartitionDirectory;
import org.apache.spark.sql.types.StructType;

import scala.Option;
import scala.collection.Iterator;
import scala.collection.immutable.Seq;
import scala.collection.mutable.ListBuffer;

import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;

/** A file index that lists what another one lists, less the files that cannot match. */
public final class PrunedFiles implements FileIndex, PrunedIndex {
    final FileIndex files;
    final CatalogEntries table;
    private final BitSet skip;
    long size;

    public PrunedFiles(FileIndex files, CatalogEntries table, BitSet skip) {
        this.files = files;
        this.table = table;
        this.skip = skip;
    }

    /** The position of a file's entry, or -1. */
    static int entry(CatalogEntries table, FileStatus file) {
        String path = file.getPath().toString();
        String key =
                path.startsWith(table.root + "/") ? path.substring(table.root.length() + 1) : path;
        return table.find(key, file.getLen(), file.getModificationTime());
    }

    public Seq listFiles(Seq partitionFilters, Seq dataFilters) {
        ListBuffer out = new ListBuffer();
        Iterator directories = files.listFiles(partitionFilters, dataFilters).iterator();
        while (directories.hasNext()) {
            PartitionDirectory directory = (PartitionDirectory) directories.next();
            ListBuffer kept = new ListBuffer();
            Iterator statuses = directory.files().iterator();
            while (statuses.hasNext()) {
                FileStatusWithMetadata status = (FileStatusWithMetadata) statuses.next();
                int entry = entry(table, status.fileStatus());
                if (entry < 0 || !skip.get(entry)) {
                    kept.addOne(status);
                }
            }
            if (kept.nonEmpty()) {
                out.addOne(new PartitionDirectory(directory.values(), kept.toList()));
            }
        }
        return out.toList();
    }

    public Seq rootPaths() {
        return (Seq) files.rootPaths();
    }

    public String[] inputFiles() {
        List out = new ArrayList();
        Iterator directories = listFiles(ScalaSeq.empty(), ScalaSeq.empty()).iterator();
        while (directories.hasNext()) {
            Iterator statuses = ((PartitionDirectory) directories.next()).files().iterator();
            while (statuses.hasNext()) {
                out.add(((FileStatusWithMetadata) statuses.next()).getPath().toUri().toString());
            }
        }
        return (String[]) out.toArray(new String[out.size()]);
    }

    public void refresh() {
        files.refresh();
    }

    public long sizeInBytes() {
        return size;
    }

    public StructType partitionSchema() {
        return files.partitionSchema();
    }

    public Option metadataOpsTimeNs() {
        return files.metadataOpsTimeNs();
    }

    public boolean equals(Object other) {
        return other instanceof PrunedFiles
                && ((PrunedFiles) other).files.equals(files)
                && ((PrunedFiles) other).skip.equals(skip)
                && ((PrunedFiles) other).table == table;
    }

    public int hashCode() {
        return files.hashCode() * 31 + skip.hashCode();
    }

    public String toString() {
        return "Skipstone[" + files + "]";
    }
}
