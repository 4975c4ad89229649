package skipstone;

import org.apache.hadoop.fs.Path;
import org.apache.spark.sql.execution.datasources.FileIndex;
import org.apache.spark.sql.types.StructType;

/** An index over all files of a scan, some of which column groups can be read for. */
interface GroupedIndex extends PrunedIndex {
    /** What may be read of column groups; null for nothing. */
    GroupOffer offer();

    Path root();

    /** The same scan of no files. */
    FileIndex withoutFiles();

    /** The files that are read beside the groups; null if there are none. */
    FileIndex without(GroupAsker.GroupAnswer answer);

    /** The same as if these replicas were all that is read. */
    FileIndex of(String[] replicas);

    /** Puts what is read beside and of the groups into a report. */
    void count(FileIndex rest, GroupAsker.GroupAnswer answer, DecidedScan record);

    /** Columns as they are stored, by their names now. */
    StructType stored(StructType columns);
}
