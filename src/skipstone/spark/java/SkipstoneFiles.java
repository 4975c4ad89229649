package skipstone;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.HashMap;
import java.util.List;
import org.apache.spark.sql.classic.Dataset;
import org.apache.spark.sql.classic.SparkSession;
import org.apache.spark.sql.execution.FileSourceScanExec;
import org.apache.spark.sql.execution.QueryExecution;
import org.apache.spark.sql.execution.SparkPlan;
import org.apache.spark.sql.execution.datasources.CatalogFileIndex;
import org.apache.spark.sql.execution.datasources.FileIndex;
import org.apache.spark.sql.execution.datasources.FilePartition;
import org.apache.spark.sql.execution.datasources.FileScanRDD;
import org.apache.spark.sql.execution.datasources.HadoopFsRelation;
import org.apache.spark.sql.execution.datasources.LogicalRelation;
import org.apache.spark.sql.execution.datasources.PartitionedFile;
import scala.collection.Iterator;

/** The files of a table as they lie now, data frames over some of them, and aggregates per file. */
public class SkipstoneFiles {
    /** Names the files as the catalog does: relative to the root for plain files, as in its log for Delta. */
    public final List paths = new ArrayList();
    protected final List sizes = new ArrayList();
    protected final List times = new ArrayList();
    /** Absolute path to position. */
    protected final HashMap positions = new HashMap();
    protected final LogicalRelation scan;
    protected final String root;

    public SkipstoneFiles(LogicalRelation scan, String root) {
        this.scan = scan;
        this.root = root;
    }

    public void add(String key, String absolute, long size, long time) {
        positions.put(absolute, Integer.valueOf(paths.size()));
        paths.add(key);
        sizes.add(Long.valueOf(size));
        times.add(Long.valueOf(time));
    }

    public String root() {
        return root;
    }

    /** Without columns whose name is in the paths, unless it is from there that they are read. */
    public String schema() {
        HadoopFsRelation relation = (HadoopFsRelation) scan.relation();
        java.util.Set partitions = Skipstone.lowerCase(relation.partitionSchema().fieldNames());
        java.util.Set doubtful = new java.util.HashSet();
        for (int i = 0; i < paths.size(); i++) {
            Skipstone.addPartitions((String) paths.get(i), doubtful);
        }
        if (relation.location() instanceof CatalogFileIndex) {
            doubtful.addAll(partitions);
        } else {
            doubtful.removeAll(partitions);
        }
        return Skipstone.without(scan.schema(), doubtful).json();
    }

    public String partitionSchema() {
        return ((HadoopFsRelation) scan.relation()).partitionSchema().json();
    }

    public byte[] paths() {
        return String.join("\0", (String[]) paths.toArray(new String[paths.size()])).getBytes(StandardCharsets.UTF_8);
    }

    public byte[] sizes() {
        return bytes(sizes);
    }

    public byte[] times() {
        return bytes(times);
    }

    public static byte[] bytes(List values) {
        ByteBuffer out = ByteBuffer.allocate(values.size() * 8);
        for (int i = 0; i < values.size(); i++) {
            out.putLong(((Long) values.get(i)).longValue());
        }
        return out.array();
    }

    /** The rows of the chosen files, deleted ones included, so that statistics outlive deletion vectors. */
    public Dataset frame(SparkSession session, byte[] chosen) {
        BitSet skip = BitSet.valueOf(chosen);
        skip.flip(0, paths.size());
        HadoopFsRelation relation = (HadoopFsRelation) scan.relation();
        FileIndex index = new Skipstone.PrunedFiles(
            relation.location(), Skipstone.tableOf(root, paths(), sizes(), times()), skip);
        HadoopFsRelation smaller = new HadoopFsRelation(
            index, relation.partitionSchema(), relation.dataSchema(), relation.bucketSpec(),
            relation.fileFormat(), relation.options(), session);
        return Dataset.ofRows(session, new LogicalRelation(
            smaller, scan.output(), scan.catalogTable(), false, scan.stream()));
    }

    /** One row per file, and the position of the file that each row is about. */
    public static final class PerFile {
        private final Dataset rows;
        private final byte[] files;

        PerFile(Dataset rows, byte[] files) {
            this.rows = rows;
            this.files = files;
        }

        public Dataset rows() {
            return rows;
        }

        public byte[] files() {
            return files;
        }
    }

    /**
     * An aggregate without grouping, evaluated for each file on its own. Spark plans such an aggregate as
     * one half per partition and another half that merges; with one file to a partition, and both halves
     * run where the file is read, each row is about one file. That is generated code without a hash table,
     * a sort or a shuffle.
     */
    public PerFile perFile(SparkSession session, Dataset aggregate) {
        SparkPlan merging = aggregate.queryExecution().sparkPlan();
        SparkPlan partial = QueryExecution.prepareExecutedPlan(session, (SparkPlan) merging.children().head());
        scala.collection.mutable.ListBuffer child = new scala.collection.mutable.ListBuffer();
        child.addOne(partial);
        SparkPlan both = (SparkPlan) merging.withNewChildren(child.toList());
        Iterator partitions = ((FileScanRDD) source(partial).inputRDD()).filePartitions().iterator();
        List order = new ArrayList();
        while (partitions.hasNext()) {
            PartitionedFile[] files = ((FilePartition) partitions.next()).files();
            Object position = files.length == 1 ? positions.get(files[0].toPath().toString()) : null;
            if (position == null || files[0].start() != 0L || files[0].length() != files[0].fileSize()) {
                throw new IllegalStateException("a partition is not one whole file of the table");
            }
            order.add(Long.valueOf(((Integer) position).longValue()));
        }
        return new PerFile(session.internalCreateDataFrame(both.execute(), both.schema(), false), bytes(order));
    }

    private static FileSourceScanExec source(SparkPlan plan) {
        if (plan instanceof FileSourceScanExec) {
            return (FileSourceScanExec) plan;
        }
        return source((SparkPlan) plan.children().head());
    }
}
