package skipstone;

import org.apache.spark.rdd.CoalescedRDDPartition;
import org.apache.spark.rdd.RDD;
import org.apache.spark.sql.catalyst.expressions.Concat;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.Literal;
import org.apache.spark.sql.catalyst.expressions.Literal$;
import org.apache.spark.sql.catalyst.expressions.UnsafeRow;
import org.apache.spark.sql.catalyst.expressions.aggregate.AggregateExpression;
import org.apache.spark.sql.catalyst.expressions.aggregate.AggregateFunction;
import org.apache.spark.sql.catalyst.expressions.aggregate.Complete$;
import org.apache.spark.sql.catalyst.expressions.aggregate.DeclarativeAggregate;
import org.apache.spark.sql.catalyst.expressions.aggregate.Max;
import org.apache.spark.sql.catalyst.expressions.aggregate.Min;
import org.apache.spark.sql.catalyst.plans.logical.LocalLimit;
import org.apache.spark.sql.classic.Dataset;
import org.apache.spark.sql.classic.SparkSession;
import org.apache.spark.sql.execution.FileSourceScanExec;
import org.apache.spark.sql.execution.QueryExecution;
import org.apache.spark.sql.execution.SparkPlan;
import org.apache.spark.sql.execution.aggregate.BaseAggregateExec;
import org.apache.spark.sql.execution.datasources.CatalogFileIndex;
import org.apache.spark.sql.execution.datasources.FileIndex;
import org.apache.spark.sql.execution.datasources.FilePartition;
import org.apache.spark.sql.execution.datasources.FileScanRDD;
import org.apache.spark.sql.execution.datasources.HadoopFsRelation;
import org.apache.spark.sql.execution.datasources.LogicalRelation;
import org.apache.spark.sql.execution.datasources.PartitionedFile;
import org.apache.spark.sql.types.BinaryType;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.StringType;
import org.apache.spark.unsafe.types.UTF8String;

import scala.Option;
import scala.collection.Iterator;
import scala.collection.immutable.Seq;
import scala.collection.mutable.ListBuffer;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** The current files of a table, data frames over some of them, and aggregates per file. */
public class SkipstoneFiles {
    private static final long BYTES_A_TASK = 32L << 20;

    /**
     * Names the files as the catalog does: relative to the root for plain files, as in its log for
     * Delta.
     */
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

    public final void add(String key, String absolute, long size, long time) {
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
        Set partitions = TableSchema.lowerCase(relation.partitionSchema().fieldNames());
        Set doubtful = new HashSet();
        for (int i = 0; i < paths.size(); i++) {
            TableSchema.addPartitionNames((String) paths.get(i), doubtful);
        }
        if (relation.location() instanceof CatalogFileIndex) {
            doubtful.addAll(partitions);
        } else {
            doubtful.removeAll(partitions);
        }
        return TableSchema.marked(
                        TableSchema.without(scan.schema(), doubtful), relation.partitionSchema())
                .json();
    }

    public String partitionSchema() {
        return ((HadoopFsRelation) scan.relation()).partitionSchema().json();
    }

    public byte[] paths() {
        return joined((String[]) paths.toArray(new String[paths.size()]));
    }

    /** The absolute paths in the order of the positions. */
    public byte[] absolutePaths() {
        String[] out = new String[paths.size()];
        java.util.Iterator entries = positions.entrySet().iterator();
        while (entries.hasNext()) {
            Map.Entry entry = (Map.Entry) entries.next();
            out[((Integer) entry.getValue()).intValue()] = (String) entry.getKey();
        }
        return joined(out);
    }

    /**
     * What identifies the deletion vector of each file, in the order of the positions; an empty
     * text for a file that has none, as plain files.
     */
    public byte[] vectors() {
        String[] out = new String[paths.size()];
        for (int i = 0; i < out.length; i++) {
            out[i] = vector(i);
        }
        return joined(out);
    }

    protected String vector(int index) {
        return "";
    }

    /** The version of the table; -1 for plain files, which have none. */
    public long version() {
        return -1L;
    }

    /** Texts in UTF-8 with a NUL between them. */
    protected static byte[] joined(String[] texts) {
        return String.join("\0", texts).getBytes(StandardCharsets.UTF_8);
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

    /**
     * The rows of the chosen files, deleted ones included, so that statistics outlive deletion
     * vectors.
     */
    public Dataset frame(SparkSession session, byte[] chosen) {
        BitSet skip = BitSet.valueOf(chosen);
        skip.flip(0, paths.size());
        HadoopFsRelation relation = (HadoopFsRelation) scan.relation();
        FileIndex index =
                new PrunedFiles(
                        relation.location(),
                        CatalogEntries.of(root, paths(), sizes(), times()),
                        skip);
        HadoopFsRelation smaller = Relations.reading(relation, index, session);
        return Dataset.ofRows(
                session,
                new LogicalRelation(
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
     * An aggregate without grouping, evaluated for each file on its own. Spark plans such an
     * aggregate as one half per partition and another half that merges; with one file to a
     * partition, a single operator that does both where the file is read gives one row per file.
     * That is generated code without a hash table, a sort or a shuffle.
     */
    public PerFile perFile(SparkSession session, Dataset aggregate) {
        // Code is generated by the settings of whatever session is active.
        Option before = ActiveSession.swap(session);
        try {
            return inSession(session, aggregate);
        } finally {
            ActiveSession.restore(before);
        }
    }

    private PerFile inSession(SparkSession session, Dataset aggregate) {
        BaseAggregateExec merging = (BaseAggregateExec) aggregate.queryExecution().sparkPlan();
        SparkPlan partial = firstChild((SparkPlan) merging);
        ListBuffer whole = new ListBuffer();
        Iterator aggregates = merging.aggregateExpressions().iterator();
        while (aggregates.hasNext()) {
            AggregateExpression one = (AggregateExpression) aggregates.next();
            if (!(one.aggregateFunction() instanceof DeclarativeAggregate)
                    || !isSafe(one.dataType())) {
                throw new IllegalStateException(
                        "an aggregate cannot be evaluated per file: " + one);
            }
            whole.addOne(
                    one.copy(
                            copying(one.aggregateFunction()),
                            Complete$.MODULE$,
                            one.isDistinct(),
                            one.filter(),
                            one.resultId()));
        }
        SparkPlan both =
                QueryExecution.prepareExecutedPlan(
                        session,
                        SkipstoneAggregate.of(
                                whole.toList(),
                                merging.aggregateAttributes(),
                                merging.resultExpressions(),
                                firstChild(partial)));
        Seq partitions = (Seq) ((FileScanRDD) source(both).inputRDD()).filePartitions();
        RDD rows = both.execute().coalesce(tasks(session), false, Option.empty(), null);
        List order = new ArrayList();
        for (int i = 0; i < rows.partitions().length; i++) {
            int[] together = ((CoalescedRDDPartition) rows.partitions()[i]).parentsIndices();
            for (int j = 0; j < together.length; j++) {
                order.add(position((FilePartition) partitions.apply(together[j])));
            }
        }
        return new PerFile(
                session.internalCreateDataFrame(rows, both.schema(), false), bytes(order));
    }

    /**
     * Whether a buffer of the type holds its value; binaries do if the aggregate only sees copies,
     * as those of ours and, by {@link #copying}, the extremes of texts.
     */
    private static boolean isSafe(DataType type) {
        return UnsafeRow.isMutable(type)
                || type instanceof BinaryType
                || type instanceof StringType;
    }

    /** Extremes of texts, which would point into a batch of rows, become those of their copies. */
    private static AggregateFunction copying(AggregateFunction function) {
        if (!(function.dataType() instanceof StringType)) {
            return function;
        }
        Seq children = function.children();
        Expression value = (Expression) children.head();
        if (function instanceof Min) {
            return new Min(copied(value));
        }
        if (function instanceof Max) {
            return new Max(copied(value));
        }
        throw new IllegalStateException("an aggregate cannot be evaluated per file: " + function);
    }

    /** Concatenation always makes a new text. */
    private static Expression copied(Expression text) {
        ListBuffer parts = new ListBuffer();
        parts.addOne(text);
        parts.addOne(new Literal(UTF8String.EMPTY_UTF8, text.dataType()));
        return new Concat(parts.toList());
    }

    /** How many tasks: starting one costs more than reading a small file, so these share one. */
    private int tasks(SparkSession session) {
        long total = 0L;
        for (int i = 0; i < sizes.size(); i++) {
            total += ((Long) sizes.get(i)).longValue();
        }
        int cores = session.sparkContext().defaultParallelism();
        return (int) Math.max(4L * cores, Math.min(total / BYTES_A_TASK, (long) Integer.MAX_VALUE));
    }

    private Long position(FilePartition partition) {
        PartitionedFile[] files = partition.files();
        Object position = files.length == 1 ? positions.get(files[0].toPath().toString()) : null;
        if (position == null
                || files[0].start() != 0L
                || files[0].length() != files[0].fileSize()) {
            throw new IllegalStateException("a partition is not one whole file of the table");
        }
        return Long.valueOf(((Integer) position).longValue());
    }

    /** The first rows of each partition of a frame. */
    public Dataset firstRows(SparkSession session, Dataset frame, int rows) {
        Expression limit = (Expression) Literal$.MODULE$.apply(Integer.valueOf(rows));
        return Dataset.ofRows(session, new LocalLimit(limit, frame.logicalPlan()));
    }

    private static FileSourceScanExec source(SparkPlan plan) {
        if (plan instanceof FileSourceScanExec) {
            return (FileSourceScanExec) plan;
        }
        return source(firstChild(plan));
    }

    private static SparkPlan firstChild(SparkPlan plan) {
        Seq children = plan.children();
        return (SparkPlan) children.head();
    }
}
