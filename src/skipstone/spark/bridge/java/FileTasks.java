package skipstone;

import org.apache.hadoop.fs.Path;
import org.apache.spark.sql.execution.ListingPartition;
import org.apache.spark.sql.execution.PartitionedFileUtil;
import org.apache.spark.sql.execution.ScanFileListing;
import org.apache.spark.sql.execution.datasources.FilePartition;
import org.apache.spark.sql.execution.datasources.FileStatusWithMetadata;
import org.apache.spark.sql.execution.datasources.PartitionDirectory;
import org.apache.spark.sql.execution.datasources.PartitionedFile;

import scala.collection.Iterator;
import scala.collection.immutable.Seq;
import scala.collection.mutable.ListBuffer;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * What each task of a {@link PartitionedScan} reads: some of the files that a scan lists, whole or
 * in part. A file may be read by several tasks. A listed file that no task reads is not read.
 *
 * <p>Of a Parquet file, a task reads those row groups whose middle is in the bytes that it asks
 * for. Adjacent parts are merged, since every part reads the footer again. Within a task files are
 * read in the order of the listing, and parts by where they begin.
 *
 * <p>Filled first, then given to a scan, and not changed any more. It stays in the driver.
 */
final class FileTasks {
    private static final Comparator ORDER = new ByFile();

    private final ScanFileListing listing;
    private final List files = new ArrayList();
    private final List tasks = new ArrayList();
    private boolean sealed;

    FileTasks(ScanFileListing listing) {
        this.listing = listing;
        Iterator partitions = listing.filePartitionIterator();
        while (partitions.hasNext()) {
            ListingPartition partition = (ListingPartition) partitions.next();
            Iterator statuses = partition.files();
            while (statuses.hasNext()) {
                files.add(statuses.next());
            }
        }
    }

    ScanFileListing listing() {
        return listing;
    }

    /** How many files the scan lists. */
    int files() {
        return files.size();
    }

    /** A listed file, with what Delta says about its deleted rows. */
    FileStatusWithMetadata file(int index) {
        return (FileStatusWithMetadata) files.get(index);
    }

    /** How many tasks there are. */
    int tasks() {
        return tasks.size();
    }

    /** Begins a task; it reads what is named until the next one begins. */
    void begin() {
        if (sealed) {
            throw new IllegalStateException("the tasks of a scan do not change any more");
        }
        tasks.add(new ArrayList());
    }

    /** The task reads a whole file. */
    void read(int file) {
        read(file, 0L, file(file).getLen());
    }

    /** The task reads some bytes of a file. */
    void read(int file, long start, long length) {
        if (sealed || start < 0 || length < 0 || start + length > file(file).getLen()) {
            throw new IllegalArgumentException(
                    "a task cannot read " + length + " bytes from " + start + " of " + file(file));
        }
        ((List) tasks.get(tasks.size() - 1)).add(new long[] {file, start, length});
    }

    /** Merges what is adjacent; no part of a file may be read twice by one task. */
    void seal() {
        if (sealed) {
            return;
        }
        for (int i = 0; i < tasks.size(); i++) {
            tasks.set(i, merged((List) tasks.get(i)));
        }
        sealed = true;
    }

    private List merged(List parts) {
        List out = new ArrayList();
        parts.sort(ORDER);
        for (int i = 0; i < parts.size(); i++) {
            long[] part = (long[]) parts.get(i);
            long[] last = out.isEmpty() ? null : (long[]) out.get(out.size() - 1);
            if (last == null || last[0] != part[0] || last[1] + last[2] < part[1]) {
                out.add(part);
            } else if (last[1] + last[2] == part[1]) {
                out.set(out.size() - 1, new long[] {last[0], last[1], last[2] + part[2]});
            } else {
                throw new IllegalArgumentException(
                        "a task would read a part of " + file((int) part[0]).getPath() + " twice");
            }
        }
        return out;
    }

    /** A file that some task does not read whole; null if there is none. */
    Path divided() {
        for (int i = 0; i < tasks.size(); i++) {
            List parts = (List) tasks.get(i);
            for (int j = 0; j < parts.size(); j++) {
                long[] part = (long[]) parts.get(j);
                FileStatusWithMetadata file = file((int) part[0]);
                if (part[2] < file.getLen()) {
                    return file.getPath();
                }
            }
        }
        return null;
    }

    /**
     * As Spark's RDD of files takes them.
     *
     * @param left the files that are left when partitions have been pruned at run time
     */
    Seq partitions(ScanFileListing left) {
        Map directories = directories(left);
        ListBuffer out = new ListBuffer();
        for (int i = 0; i < tasks.size(); i++) {
            List parts = (List) tasks.get(i);
            List read = new ArrayList();
            for (int j = 0; j < parts.size(); j++) {
                long[] part = (long[]) parts.get(j);
                FileStatusWithMetadata file = file((int) part[0]);
                PartitionDirectory directory = (PartitionDirectory) directories.get(file.getPath());
                if (directory != null) {
                    read.add(
                            PartitionedFileUtil.getPartitionedFile(
                                    file, file.getPath(), directory.values(), part[1], part[2]));
                }
            }
            PartitionedFile[] all = new PartitionedFile[read.size()];
            out.addOne(new FilePartition(i, (PartitionedFile[]) read.toArray(all)));
        }
        return out.toList();
    }

    /** The partition of each file, by its path. */
    private static Map directories(ScanFileListing left) {
        Map out = new HashMap();
        Iterator partitions = left.filePartitionIterator();
        while (partitions.hasNext()) {
            ListingPartition partition = (ListingPartition) partitions.next();
            PartitionDirectory directory =
                    new PartitionDirectory(partition.values(), ScalaSeq.empty());
            Iterator statuses = partition.files();
            while (statuses.hasNext()) {
                out.put(((FileStatusWithMetadata) statuses.next()).getPath(), directory);
            }
        }
        return out;
    }

    /** Two scans read the same only if their tasks do. */
    public boolean equals(Object other) {
        if (this == other) {
            return true;
        }
        if (!(other instanceof FileTasks)
                || tasks.size() != ((FileTasks) other).tasks.size()
                || !files.equals(((FileTasks) other).files)) {
            return false;
        }
        for (int i = 0; i < tasks.size(); i++) {
            Object[] own = ((List) tasks.get(i)).toArray();
            Object[] others = ((List) ((FileTasks) other).tasks.get(i)).toArray();
            if (!Arrays.deepEquals(own, others)) {
                return false;
            }
        }
        return true;
    }

    public int hashCode() {
        return files.size() * 31 + tasks.size();
    }

    public String toString() {
        return tasks.size() + " tasks";
    }

    /** By file, and then by where a part begins. */
    static final class ByFile implements Comparator {
        public int compare(Object first, Object second) {
            long[] one = (long[]) first;
            long[] two = (long[]) second;
            int files = Long.compare(one[0], two[0]);
            return files != 0 ? files : Long.compare(one[1], two[1]);
        }
    }
}
