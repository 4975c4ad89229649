package skipstone;

import org.apache.spark.sql.catalyst.expressions.DynamicPruning;
import org.apache.spark.sql.execution.FileSourceScanExec;
import org.apache.spark.sql.execution.ScanFileListing;
import org.apache.spark.sql.execution.datasources.HadoopFsRelation;
import org.apache.spark.sql.execution.metric.SQLMetric;
import org.apache.spark.sql.types.StructType;

import scala.Option;
import scala.collection.Iterator;
import scala.collection.immutable.Seq;
import scala.collection.mutable.ListBuffer;

/**
 * Spark's scan of files, which asks once more which of them are read when the join keys are known.
 *
 * <p>Spark's own scan prunes partitions at run time, and nothing else. So the subqueries for the
 * keys are among the data filters, where Spark plans and runs them before the scan, and the files
 * are chosen where Spark would choose partitions. Nothing else differs: readers, splits, code
 * generation and metrics are those of the parent.
 *
 * <p>A subclass of a case class equals its parent unless it says otherwise, and Spark keeps the old
 * node when a new one equals it. Executors do not have this class: they get the parent.
 */
public final class DynamicScan extends FileSourceScanExec {
    private static final long serialVersionUID = 1L;

    private final transient JoinPruner pruner;
    private transient ScanFileListing selected;
    private transient ScanFileListing left;

    public DynamicScan(
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
        this.pruner = pruner;
    }

    /** A scan with further filters that are known at run time only. */
    static DynamicScan of(FileSourceScanExec scan, Seq dynamic, JoinPruner pruner) {
        ListBuffer filters = new ListBuffer();
        filters.addAll(scan.dataFilters());
        filters.addAll(dynamic);
        DynamicScan out =
                new DynamicScan(
                        scan.relation(),
                        (Option) scan.stream(),
                        scan.output(),
                        scan.requiredSchema(),
                        scan.partitionFilters(),
                        (Option) scan.optionalBucketSet(),
                        (Option) scan.optionalNumCoalescedBuckets(),
                        filters.toList(),
                        (Option) scan.tableIdentifier(),
                        scan.disableBucketedScan(),
                        pruner);
        out.copyTagsFrom(scan);
        return out;
    }

    JoinPruner pruner() {
        return pruner;
    }

    /** The filters of a scan that are known at planning. */
    static Seq fixed(FileSourceScanExec scan) {
        ListBuffer filters = new ListBuffer();
        Iterator each = scan.dataFilters().iterator();
        while (each.hasNext()) {
            Object filter = each.next();
            if (!(filter instanceof DynamicPruning)) {
                filters.addOne(filter);
            }
        }
        return filters.toList();
    }

    /** Spark's own scan, without what is known at run time only. */
    private FileSourceScanExec plain() {
        return new FileSourceScanExec(
                relation(),
                stream(),
                output(),
                requiredSchema(),
                partitionFilters(),
                optionalBucketSet(),
                optionalNumCoalescedBuckets(),
                fixed(this),
                tableIdentifier(),
                disableBucketedScan());
    }

    /**
     * What is listed at planning. A run-time filter that came to nothing is no filter, and Delta
     * would look for files anew by filters other than those that it knows.
     */
    public synchronized ScanFileListing selectedPartitions() {
        if (selected == null) {
            FileSourceScanExec scan = plain();
            selected = scan.selectedPartitions();
            Iterator names = scan.driverMetrics().keysIterator();
            while (names.hasNext()) {
                String name = (String) names.next();
                Object metric = scan.driverMetrics().apply(name);
                set(name, ((SQLMetric) metric)._value());
            }
        }
        return selected;
    }

    /** The files that are left when the subqueries among the filters have run. */
    public synchronized ScanFileListing dynamicallySelectedPartitions() {
        if (left == null) {
            ScanFileListing all = super.dynamicallySelectedPartitions();
            ScanFileListing kept = pruner.keep(this, all);
            if (kept != all) {
                set("numFiles", kept.totalNumberOfFiles());
                set("filesSize", kept.totalFileSize());
                if (relation().partitionSchema().nonEmpty()) {
                    set("numPartitions", kept.partitionCount());
                }
            }
            left = kept;
        }
        return left;
    }

    private void set(String metric, long value) {
        Option found = driverMetrics().get(metric);
        if (found.isDefined()) {
            ((SQLMetric) found.get()).set(value);
        }
    }

    /** Constructor arguments that are no part of the product; copies of the plan get them too. */
    public Seq otherCopyArgs() {
        return ScalaSeq.of(pruner);
    }

    public boolean canEqual(Object other) {
        return other instanceof DynamicScan;
    }

    public boolean equals(Object other) {
        return this == other || other instanceof DynamicScan && super.equals(other);
    }

    public int hashCode() {
        return super.hashCode() * 31 + 1;
    }

    /** Public, for Janino renames private methods. */
    public Object writeReplace() {
        return plain();
    }
}
