package skipstone;

import org.apache.hadoop.fs.Path;
import org.apache.spark.rdd.RDD;
import org.apache.spark.sql.catalyst.FileSourceOptions;
import org.apache.spark.sql.catalyst.util.CaseInsensitiveMap$;
import org.apache.spark.sql.execution.FileSourceScanExec;
import org.apache.spark.sql.execution.ScanFileListing;
import org.apache.spark.sql.execution.SparkPlan;
import org.apache.spark.sql.execution.datasources.FileScanRDD;
import org.apache.spark.sql.execution.datasources.HadoopFsRelation;
import org.apache.spark.sql.execution.metric.SQLMetric;
import org.apache.spark.sql.types.StructType;

import scala.Option;
import scala.collection.immutable.Seq;
import scala.runtime.AbstractFunction1;

/**
 * Spark's scan of files with tasks of our own: {@link FileTasks} says which files, or row groups of
 * files, each task reads. Readers, code generation, deletion vectors and column mapping are those
 * of the parent and its file format.
 *
 * <p>Files that are left out at run time, by Spark for their partitions or by the keys of joins as
 * in {@link DynamicScan}, are left out of all tasks.
 *
 * <p>Nothing is claimed about how rows are distributed: what relies on the tasks must be planned
 * above the scan with no exchange between. A subclass of a case class equals its parent unless it
 * says otherwise, and then Spark keeps the old node, or reuses an exchange above it. Executors do
 * not have this class: they get the parent.
 */
public final class PartitionedScan extends FileSourceScanExec {
    private static final long serialVersionUID = 1L;
    private static final String TESTED = "4.2.";
    private static final int ARGUMENTS = 10;

    private final transient FileTasks tasks;
    private final transient JoinPruner pruner;
    private transient ScanFileListing left;
    private transient boolean counted;
    private transient RDD rows;

    public PartitionedScan(
            HadoopFsRelation relation,
            Option stream,
            Seq output,
            StructType requiredSchema,
            Seq partitionFilters,
            Option bucketSet,
            Option coalescedBuckets,
            Seq dataFilters,
            Option tableIdentifier,
            boolean disableBucketedScan,
            FileTasks tasks,
            JoinPruner pruner) {
        super(
                relation,
                stream,
                output,
                requiredSchema,
                partitionFilters,
                bucketSet,
                coalescedBuckets,
                dataFilters,
                tableIdentifier,
                disableBucketedScan);
        this.tasks = tasks;
        this.pruner = pruner;
    }

    /** Why a scan cannot have tasks of our own; null if it can. */
    static String obstacle(FileSourceScanExec scan) {
        String version = org.apache.spark.package$.MODULE$.SPARK_VERSION();
        if (!version.startsWith(TESTED) || scan.productArity() != ARGUMENTS) {
            return "scans are known as they are in Spark " + TESTED + "x, and this is " + version;
        }
        if (scan.getClass() != FileSourceScanExec.class && !(scan instanceof DynamicScan)) {
            return "it is a scan of another kind";
        }
        if (scan.stream().isDefined()) {
            return "it is a stream";
        }
        return scan.bucketedScan() ? "Spark reads it by its buckets" : null;
    }

    /**
     * The scan with other tasks.
     *
     * @param tasks of the files that the scan itself lists
     */
    static PartitionedScan of(FileSourceScanExec scan, FileTasks tasks) {
        String obstacle = obstacle(scan);
        if (obstacle != null) {
            throw new IllegalArgumentException(obstacle);
        }
        tasks.seal();
        Path divided = tasks.divided();
        HadoopFsRelation relation = scan.relation();
        if (divided != null
                && !relation.fileFormat()
                        .isSplitable(relation.sparkSession(), relation.options(), divided)) {
            throw new IllegalArgumentException(divided + " can only be read whole");
        }
        JoinPruner pruner = scan instanceof DynamicScan ? ((DynamicScan) scan).pruner() : null;
        PartitionedScan out = like(scan, tasks, pruner);
        out.copyTagsFrom(scan);
        return out;
    }

    /** A plan in which one scan has other tasks. */
    static SparkPlan in(SparkPlan plan, FileSourceScanExec scan, FileTasks tasks) {
        return (SparkPlan) new Replace(scan, of(scan, tasks)).apply(plan);
    }

    private static PartitionedScan like(
            FileSourceScanExec scan, FileTasks tasks, JoinPruner pruner) {
        return new PartitionedScan(
                scan.relation(),
                (Option) scan.stream(),
                scan.output(),
                scan.requiredSchema(),
                scan.partitionFilters(),
                (Option) scan.optionalBucketSet(),
                (Option) scan.optionalNumCoalescedBuckets(),
                scan.dataFilters(),
                (Option) scan.tableIdentifier(),
                scan.disableBucketedScan(),
                tasks,
                pruner);
    }

    FileTasks tasks() {
        return tasks;
    }

    /** What was listed when the tasks were made, so that they are about the same files. */
    public synchronized ScanFileListing selectedPartitions() {
        ScanFileListing listing = tasks.listing();
        if (!counted) {
            counted = true;
            set("numFiles", listing.totalNumberOfFiles());
            set("filesSize", listing.totalFileSize());
            set("numPartitions", listing.partitionCount());
        }
        return listing;
    }

    /** The files that are left when the subqueries among the filters have run. */
    public synchronized ScanFileListing dynamicallySelectedPartitions() {
        if (left == null) {
            ScanFileListing all = super.dynamicallySelectedPartitions();
            left = pruner == null ? all : pruner.keep(this, all);
            if (left != all) {
                set("numFiles", left.totalNumberOfFiles());
                set("filesSize", left.totalFileSize());
                if (relation().partitionSchema().nonEmpty()) {
                    set("numPartitions", left.partitionCount());
                }
            }
        }
        return left;
    }

    private void set(String metric, long value) {
        Option found = driverMetrics().get(metric);
        if (found.isDefined()) {
            ((SQLMetric) found.get()).set(value);
        }
    }

    /** The rows as Spark would read them, by other tasks. */
    public synchronized RDD inputRDD() {
        if (rows == null) {
            FileScanRDD usual = (FileScanRDD) super.inputRDD();
            HadoopFsRelation relation = relation();
            rows =
                    new FileScanRDD(
                            relation.sparkSession(),
                            usual.org$apache$spark$sql$execution$datasources$FileScanRDD$$readFunction,
                            tasks.partitions(dynamicallySelectedPartitions()),
                            usual.readSchema(),
                            usual.metadataColumns(),
                            usual.org$apache$spark$sql$execution$datasources$FileScanRDD$$metadataExtractors,
                            new FileSourceOptions(
                                    CaseInsensitiveMap$.MODULE$.apply(relation.options())));
        }
        return rows;
    }

    /** Scans with other tasks may have other rows in them, and rows of a file more than once. */
    public FileSourceScanExec doCanonicalize() {
        return like(super.doCanonicalize(), tasks, pruner);
    }

    /** Constructor arguments that are no part of the product; copies of the plan get them too. */
    public Seq otherCopyArgs() {
        return (Seq) ScalaSeq.of(tasks).appended(pruner);
    }

    public boolean canEqual(Object other) {
        return other instanceof PartitionedScan;
    }

    public boolean equals(Object other) {
        return this == other
                || other instanceof PartitionedScan
                        && super.equals(other)
                        && tasks.equals(((PartitionedScan) other).tasks);
    }

    public int hashCode() {
        return super.hashCode() * 31 + tasks.hashCode();
    }

    /** Public, for Janino renames private methods. */
    public Object writeReplace() {
        return new FileSourceScanExec(
                relation(),
                stream(),
                output(),
                requiredSchema(),
                partitionFilters(),
                optionalBucketSet(),
                optionalNumCoalescedBuckets(),
                DynamicScan.fixed(this),
                tableIdentifier(),
                disableBucketedScan());
    }

    /** Puts one node of a plan in the place of another. */
    static final class Replace extends AbstractFunction1 {
        private final SparkPlan before;
        private final SparkPlan after;

        Replace(SparkPlan before, SparkPlan after) {
            this.before = before;
            this.after = after;
        }

        public Object apply(Object node) {
            return node == before ? after : ((SparkPlan) node).mapChildren(this);
        }
    }
}
