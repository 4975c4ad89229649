package skipstone;

import org.apache.spark.sql.catalyst.expressions.BasePredicate;
import org.apache.spark.sql.execution.ListingPartition;
import org.apache.spark.sql.execution.PartitionedFileUtil;
import org.apache.spark.sql.execution.ScanFileListing;
import org.apache.spark.sql.execution.datasources.FileStatusWithMetadata;
import org.apache.spark.sql.execution.datasources.PartitionDirectory;
import org.apache.spark.sql.execution.datasources.PartitionedFile;

import scala.collection.Iterator;
import scala.collection.immutable.Seq;
import scala.collection.mutable.ListBuffer;

import java.util.ArrayList;
import java.util.List;

/** The files that are left of another listing. It stays in the driver. */
final class KeptListing implements ScanFileListing {
    private final ScanFileListing all;
    private final List directories;
    private final long openCost;
    private long files;
    private long bytes;

    /**
     * @param openCost what opening a file counts as, in bytes
     */
    KeptListing(ScanFileListing all, Kept kept, long openCost) {
        this.all = all;
        this.openCost = openCost;
        this.directories = new ArrayList();
        Iterator partitions = all.filePartitionIterator();
        while (partitions.hasNext()) {
            ListingPartition partition = (ListingPartition) partitions.next();
            ListBuffer left = new ListBuffer();
            Iterator statuses = partition.files();
            while (statuses.hasNext()) {
                FileStatusWithMetadata file = (FileStatusWithMetadata) statuses.next();
                if (kept.reads(file)) {
                    left.addOne(file);
                    files++;
                    bytes += file.getLen();
                }
            }
            if (left.nonEmpty()) {
                directories.add(new PartitionDirectory(partition.values(), left.toList()));
            }
        }
    }

    /** Says which files are read. */
    interface Kept {
        boolean reads(FileStatusWithMetadata file);
    }

    public int partitionCount() {
        return directories.size();
    }

    public long totalFileSize() {
        return bytes;
    }

    public long totalNumberOfFiles() {
        return files;
    }

    /** Spark calls this on what it has listed itself, never on what is left of that. */
    public ScanFileListing filterAndPruneFiles(BasePredicate predicate, Seq filters) {
        throw new UnsupportedOperationException("these files are pruned already");
    }

    public PartitionedFile[] toPartitionArray() {
        List out = new ArrayList();
        for (int i = 0; i < directories.size(); i++) {
            PartitionDirectory directory = (PartitionDirectory) directories.get(i);
            Iterator statuses = directory.files().iterator();
            while (statuses.hasNext()) {
                FileStatusWithMetadata file = (FileStatusWithMetadata) statuses.next();
                out.add(
                        PartitionedFileUtil.getPartitionedFile(
                                file, file.getPath(), directory.values(), 0L, file.getLen()));
            }
        }
        return (PartitionedFile[]) out.toArray(new PartitionedFile[out.size()]);
    }

    public long calculateTotalPartitionBytes() {
        return bytes + files * openCost;
    }

    public Iterator filePartitionIterator() {
        ListBuffer out = new ListBuffer();
        for (int i = 0; i < directories.size(); i++) {
            PartitionDirectory directory = (PartitionDirectory) directories.get(i);
            out.addOne(
                    new ListingPartition(
                            directory.values(),
                            directory.files().size(),
                            directory.files().iterator()));
        }
        return out.iterator();
    }

    /** What holds for all files holds for some of them. */
    public boolean bucketsContainSingleFile() {
        return all.bucketsContainSingleFile();
    }
}
