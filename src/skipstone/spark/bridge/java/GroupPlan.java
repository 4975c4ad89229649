package skipstone;

import org.apache.hadoop.fs.Path;
import org.apache.spark.sql.catalyst.expressions.And;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.expressions.AttributeSet;
import org.apache.spark.sql.catalyst.expressions.DynamicPruning;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.optimizer.BuildLeft$;
import org.apache.spark.sql.catalyst.plans.Inner$;
import org.apache.spark.sql.catalyst.types.DataTypeUtils;
import org.apache.spark.sql.classic.SparkSession;
import org.apache.spark.sql.execution.FileSourceScanExec;
import org.apache.spark.sql.execution.FilterExec;
import org.apache.spark.sql.execution.ProjectExec;
import org.apache.spark.sql.execution.SparkPlan;
import org.apache.spark.sql.execution.UnionExec;
import org.apache.spark.sql.execution.datasources.HadoopFsRelation;
import org.apache.spark.sql.execution.datasources.LogicalRelation;
import org.apache.spark.sql.execution.datasources.parquet.ParquetFileFormat;
import org.apache.spark.sql.execution.joins.ShuffledHashJoinExec;
import org.apache.spark.sql.execution.joins.SortMergeJoinExec;
import org.apache.spark.sql.types.LongType$;
import org.apache.spark.sql.types.Metadata;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.StructType;

import scala.Option;
import scala.collection.Iterator;
import scala.collection.immutable.Map$;
import scala.collection.immutable.Seq;
import scala.collection.mutable.ListBuffer;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * The operators that read column groups in place of one scan. Tasks read the same horizontal
 * partitions in all groups, in the same order, so joins put tuples together inside a task. Spark is
 * told so by the flag of skewed joins, which ask for no distribution of their sides and promise
 * none above. A hash join keeps its smaller side in memory and cannot spill, so it is for small
 * sides only.
 */
final class GroupPlan {
    static final String TUPLE_ID = "__skipstone_tuple";
    static final String HASH_BYTES = "spark.skipstone.groups.hashBytes";

    private static final String MOST_HASH_BYTES = "67108864";
    private static final int ROW_BYTES = 48;

    private final SparkSession session;
    private final Path root;
    private final FileSourceScanExec scan;

    /** For the next group that is planned. */
    private GroupedScan logged;

    private int hashed;
    private int merged;

    /** The conditions of the filters above the scan. */
    private final List conditions = new ArrayList();

    /** Conjuncts of the filters above the scan that can be evaluated alone and never fail. */
    private final List local = new ArrayList();

    /**
     * @param scan what the groups replace
     * @param plan the operators above it
     */
    GroupPlan(SparkSession session, Path root, FileSourceScanExec scan, SparkPlan plan) {
        this.session = session;
        this.root = root;
        this.scan = scan;
        SparkPlan each = plan;
        while (each != scan) {
            if (each instanceof FilterExec) {
                conditions.add(((FilterExec) each).condition());
                SafeFilters.add(((FilterExec) each).condition(), local);
            }
            Object child = each.children().head();
            each = (SparkPlan) child;
        }
    }

    /** Whether all that the scan gives are columns of the table. */
    boolean hasColumnsOf(LogicalRelation table) {
        Iterator output = scan.output().iterator();
        AttributeSet known = table.outputSet();
        while (output.hasNext()) {
            if (!known.contains((Attribute) output.next())) {
                return false;
            }
        }
        return true;
    }

    /** The names of the columns that the scan gives. */
    String[] columns() {
        String[] out = new String[scan.output().size()];
        for (int i = 0; i < out.length; i++) {
            Object column = scan.output().apply(i);
            out[i] = ((Attribute) column).name();
        }
        return out;
    }

    /** How many hash joins and sort-merge joins put tuples together, as JSON. */
    String joins() {
        return "{\"hash\":" + hashed + ",\"merge\":" + merged + "}";
    }

    /**
     * What gives the rows of all replicas that are read; null if no block is.
     *
     * @param alone whether nothing is read beside them, by which the query log would know the scan
     */
    SparkPlan plan(List reads, GroupedIndex index, boolean alone) {
        List plans = new ArrayList();
        for (int i = 0; i < reads.size(); i++) {
            Map read = (Map) reads.get(i);
            if (((Number) read.get("partitions")).intValue() > 0) {
                logged = alone && plans.isEmpty() ? logged(read, index) : null;
                plans.add(filtered(rows((List) read.get("groups"), index)));
            }
        }
        if (plans.size() < 2) {
            return plans.isEmpty() ? null : (SparkPlan) plans.get(0);
        }
        ListBuffer all = new ListBuffer();
        for (int i = 0; i < plans.size(); i++) {
            all.addOne(plans.get(i));
        }
        return new UnionExec(all.toList());
    }

    private GroupedScan logged(Map read, GroupedIndex index) {
        long bytes = 0L;
        long files = 0L;
        List groups = (List) read.get("groups");
        for (int i = 0; i < groups.size(); i++) {
            Map group = (Map) groups.get(i);
            bytes += ((Number) group.get("bytes")).longValue();
            files += ((List) group.get("paths")).size();
        }
        String[] replica = new String[] {(String) read.get("replica")};
        HadoopFsRelation relation = Relations.reading(scan.relation(), index.of(replica), session);
        return new GroupedScan(scan, relation, conditions, files, bytes);
    }

    /**
     * Spark leaves filters on partition columns to the file index, and groups have no partitions.
     */
    private SparkPlan filtered(SparkPlan rows) {
        Expression condition = null;
        Iterator filters = scan.partitionFilters().iterator();
        while (filters.hasNext()) {
            Expression filter = (Expression) filters.next();
            if (!(filter instanceof DynamicPruning)) {
                condition = condition == null ? filter : new And(condition, filter);
            }
        }
        SparkPlan same = new ProjectExec((Seq) scan.output(), rows);
        return condition == null ? same : new FilterExec(condition, same);
    }

    /** The rows of one replica: those of a single group, or of several put together. */
    private SparkPlan rows(List groups, GroupedIndex index) {
        boolean joined = groups.size() > 1;
        List ordered = new ArrayList(groups);
        ordered.sort(new ByRows());
        SparkPlan rows = null;
        Attribute id = null;
        long most = 0L;
        for (int i = 0; i < ordered.size(); i++) {
            Map group = (Map) ordered.get(i);
            Attribute mine = joined ? tupleId() : null;
            SparkPlan read = group(group, mine, index);
            if (rows == null) {
                rows = read;
                id = mine;
                most = ((Number) group.get("most_rows")).longValue();
            } else {
                rows = join(rows, id, read, mine, most);
            }
        }
        return rows;
    }

    /** The groups come by their rows, so what is there already is the smaller side. */
    private SparkPlan join(
            SparkPlan left, Attribute id, SparkPlan right, Attribute other, long rows) {
        long bytes = rows * (ROW_BYTES + left.schema().defaultSize());
        String most = session.sessionState().conf().getConfString(HASH_BYTES, MOST_HASH_BYTES);
        Seq leftKeys = ScalaSeq.of(id);
        Seq rightKeys = ScalaSeq.of(other);
        if (bytes <= Long.parseLong(most)) {
            hashed++;
            return new ShuffledHashJoinExec(
                    leftKeys,
                    rightKeys,
                    Inner$.MODULE$,
                    BuildLeft$.MODULE$,
                    Option.empty(),
                    left,
                    right,
                    true);
        }
        merged++;
        return new SortMergeJoinExec(
                leftKeys, rightKeys, Inner$.MODULE$, Option.empty(), left, right, true);
    }

    private static Attribute tupleId() {
        return DataTypeUtils.toAttribute(
                new StructField(TUPLE_ID, LongType$.MODULE$, false, Metadata.empty()));
    }

    /** The wanted columns of one group, less rows that its own columns rule out. */
    private SparkPlan group(Map group, Attribute tupleId, GroupedIndex index) {
        List numbers = (List) group.get("columns");
        ListBuffer output = new ListBuffer();
        StructType schema = new StructType();
        for (int i = 0; i < numbers.size(); i++) {
            Object found = scan.output().apply(((Number) numbers.get(i)).intValue());
            Attribute column = (Attribute) found;
            output.addOne(column);
            schema = schema.add(field(column));
        }
        StructType stored = index.stored(schema);
        boolean renamed = !names(stored).equals(names(schema));
        if (tupleId != null) {
            output.addOne(tupleId);
            stored = stored.add(TUPLE_ID, LongType$.MODULE$, false);
        }
        Seq attributes = output.toList();
        ListBuffer filters = new ListBuffer();
        Expression condition = null;
        for (int i = 0; i < local.size(); i++) {
            Expression filter = (Expression) local.get(i);
            if (isAbout(filter, attributes)) {
                filters.addOne(filter);
                condition = condition == null ? filter : new And(condition, filter);
            }
        }
        GroupFiles files = new GroupFiles(root, group);
        files.logged = logged;
        logged = null;
        SparkPlan read =
                scan(
                        files,
                        stored,
                        attributes,
                        renamed ? ScalaSeq.empty() : filters.toList(),
                        group);
        return condition == null || tupleId == null ? read : new FilterExec(condition, read);
    }

    private SparkPlan scan(
            GroupFiles files, StructType schema, Seq output, Seq filters, Map group) {
        HadoopFsRelation relation =
                new HadoopFsRelation(
                        files,
                        new StructType(),
                        schema,
                        Option.empty(),
                        new ParquetFileFormat(),
                        (scala.collection.immutable.Map) Map$.MODULE$.empty(),
                        session);
        FileSourceScanExec plain =
                new FileSourceScanExec(
                        relation,
                        Option.empty(),
                        output,
                        schema,
                        ScalaSeq.empty(),
                        Option.empty(),
                        Option.empty(),
                        filters,
                        Option.empty(),
                        false);
        return PartitionedScan.of(plain, tasks(plain, files, (List) group.get("tasks")));
    }

    private static FileTasks tasks(FileSourceScanExec scan, GroupFiles files, List wanted) {
        FileTasks tasks = new FileTasks(scan.selectedPartitions());
        Map numbers = new java.util.HashMap();
        for (int i = 0; i < tasks.files(); i++) {
            numbers.put(tasks.file(i).getPath(), Integer.valueOf(i));
        }
        for (int i = 0; i < wanted.size(); i++) {
            tasks.begin();
            List ranges = (List) wanted.get(i);
            for (int j = 0; j < ranges.size(); j++) {
                List range = (List) ranges.get(j);
                int file = ((Number) range.get(0)).intValue();
                tasks.read(
                        ((Integer) numbers.get(files.path(file))).intValue(),
                        ((Number) range.get(1)).longValue(),
                        ((Number) range.get(2)).longValue());
            }
        }
        return tasks;
    }

    private static StructField field(Attribute column) {
        return new StructField(
                column.name(), column.dataType(), column.nullable(), column.metadata());
    }

    private static List names(StructType schema) {
        List out = new ArrayList();
        String[] names = schema.fieldNames();
        for (int i = 0; i < names.length; i++) {
            out.add(names[i]);
        }
        return out;
    }

    private static boolean isAbout(Expression filter, Seq columns) {
        AttributeSet read = filter.references();
        Iterator each = read.iterator();
        if (!each.hasNext()) {
            return false;
        }
        while (each.hasNext()) {
            Attribute column = (Attribute) each.next();
            boolean found = false;
            for (int i = 0; i < columns.size() && !found; i++) {
                found = ((Attribute) columns.apply(i)).exprId().equals(column.exprId());
            }
            if (!found) {
                return false;
            }
        }
        return true;
    }

    /** Fewest rows first. */
    static final class ByRows implements java.util.Comparator {
        public int compare(Object one, Object other) {
            return Long.compare(
                    ((Number) ((Map) one).get("rows")).longValue(),
                    ((Number) ((Map) other).get("rows")).longValue());
        }
    }
}
