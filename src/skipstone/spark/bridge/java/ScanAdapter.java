package skipstone;

import org.apache.hadoop.fs.FileStatus;
import org.apache.spark.sql.classic.SparkSession;
import org.apache.spark.sql.execution.datasources.FileIndex;
import org.apache.spark.sql.execution.datasources.HadoopFsRelation;
import org.apache.spark.sql.execution.datasources.LogicalRelation;

/** How one kind of relation is looked at and replaced. */
public interface ScanAdapter {
    /**
     * The table's root; "" for a relation to leave alone, null for one this adapter does not know.
     */
    String root(HadoopFsRelation relation);

    /**
     * The schema under which the files are read, with physical names; columns it lacks are not
     * judged.
     */
    String schema(HadoopFsRelation relation, CatalogEntries table);

    /** What the scan may read of the table's replicas; null if there are none for it. */
    CopyState copies(HadoopFsRelation relation, CatalogEntries table) throws Exception;

    /**
     * An index over the files that are not skipped, the same if none is; fills in the scan's
     * figures.
     */
    FileIndex prune(
            HadoopFsRelation relation, CatalogEntries table, ScanAnswer answer, DecidedScan scan)
            throws Exception;

    /**
     * The root of a table whose scan belongs in the query log; "" for a scan that nobody asked for,
     * such as one that copies the rows which a command leaves alone; null for one this adapter does
     * not know.
     */
    String loggedRoot(HadoopFsRelation relation, boolean writing);

    /** How many files the table has. */
    long filesTotal(HadoopFsRelation relation);

    /** The ids of the replicas whose horizontal partitions the scan reads; none for the base. */
    String[] replicasRead(HadoopFsRelation relation);

    /** The position of the catalog entry for exactly this file of a relation, or -1. */
    int entry(HadoopFsRelation relation, CatalogEntries table, FileStatus file);

    /** Whether the files that a relation lists cannot get other rows. */
    boolean isFixed();

    /**
     * What identifies the rows of the version of a table that a relation reads, all of them; null
     * if that is not known.
     */
    String state(HadoopFsRelation relation);

    /**
     * A scan of all rows of the table at a root, with ids of its own; null unless the table is in
     * this state and its files are there.
     */
    LogicalRelation open(SparkSession session, String root, String state) throws Exception;

    /** Whether this thread is in a transaction, which keeps account of what it reads. */
    boolean isWriting();
}
