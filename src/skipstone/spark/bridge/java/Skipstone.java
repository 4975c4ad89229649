package skipstone;

import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.CommonPathCapabilities;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.spark.sql.ExperimentalMethods;
import org.apache.spark.sql.catalyst.expressions.And;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.PlanExpression;
import org.apache.spark.sql.catalyst.plans.logical.Filter;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.rules.Rule;
import org.apache.spark.sql.catalyst.trees.TreeNode;
import org.apache.spark.sql.catalyst.trees.TreePattern;
import org.apache.spark.sql.execution.CommandExecutionMode;
import org.apache.spark.sql.execution.QueryExecution;
import org.apache.spark.sql.execution.datasources.CatalogFileIndex;
import org.apache.spark.sql.execution.datasources.FileIndex;
import org.apache.spark.sql.execution.datasources.FileStatusWithMetadata;
import org.apache.spark.sql.execution.datasources.HadoopFsRelation;
import org.apache.spark.sql.execution.datasources.LogicalRelation;
import org.apache.spark.sql.execution.datasources.PartitionDirectory;
import org.apache.spark.sql.execution.datasources.PartitioningAwareFileIndex;
import org.apache.spark.sql.execution.datasources.parquet.ParquetFileFormat;
import org.apache.spark.sql.internal.SQLConf;
import org.apache.spark.sql.types.MetadataBuilder;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.sql.types.TimestampType;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import scala.collection.Iterator;
import scala.collection.immutable.Seq;
import scala.runtime.AbstractFunction1;

import java.io.ByteArrayOutputStream;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.HashMap;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;

/**
 * The driver-side shim: an optimizer rule that finds filtered scans of registered tables, asks
 * Python which of their files cannot match, and puts a file index over the remaining ones in their
 * place. Every decision is Python's; this class only carries questions and answers.
 *
 * <p>Compiled at run time by the Janino compiler that Spark ships, hence plain Java without lambdas
 * and raw types at Scala's generic interfaces.
 *
 * <p>The law: whatever goes wrong here or in Python, the scan is left as it was.
 */
public final class Skipstone {
    /** The session's setting that turns skipping off and on. */
    public static final String SWITCH = "spark.skipstone.enabled";

    static final Logger LOG = LoggerFactory.getLogger("skipstone");

    /** What lies in here, such as the query log, is no part of the table around it. */
    private static final String OWN_FOLDER = "/_skipstone/";

    /** Root path to table. A root that was looked at and holds no catalog maps to ABSENT. */
    private final ConcurrentHashMap tables = new ConcurrentHashMap();

    private final Table absent = new Table("", new String[0], new long[0], new long[0]);
    private volatile Function decider;
    private volatile Function discoverer;
    private final List adapters = new ArrayList();
    private final ThreadLocal recorder = new ThreadLocal();
    private final Rule rule = new SkipRule(this);
    private volatile boolean active = true;
    private volatile long absentSince = System.nanoTime();
    private static final long ABSENT_NANOS = 60L * 1000L * 1000L * 1000L;

    public Skipstone() {
        this.adapters.add(new FilesAdapter());
    }

    /**
     * @param decider takes a question as JSON, answers the skip bits as bytes, or a sentence that
     *     says why not
     * @param discoverer takes a root path never seen before, and registers the table if it has a
     *     catalog; null switches discovery off
     */
    public void connect(Function decider, Function discoverer) {
        this.decider = decider;
        this.discoverer = discoverer;
    }

    /**
     * What the catalog knows by file: the position of its entry, and the size and time it was made
     * for.
     */
    public static final class Table {
        final String root;
        long version;
        final HashMap ordinals;
        final long[] sizes;
        final long[] times;

        /** Lower-case names that occur as name=value in the paths. */
        final java.util.Set partitions = new java.util.HashSet();

        Table(String root, String[] paths, long[] sizes, long[] times) {
            this.root = root;
            this.sizes = sizes;
            this.times = times;
            this.ordinals = new HashMap(paths.length * 2);
            for (int i = 0; i < paths.length; i++) {
                this.ordinals.put(paths[i], Integer.valueOf(i));
                addPartitions(paths[i], this.partitions);
            }
        }

        public String root() {
            return root;
        }

        /** How many files have an entry. */
        public int size() {
            return sizes.length;
        }

        /** Grows whenever the catalog is read anew. */
        public long version() {
            return version;
        }

        /** The entry's position, or -1 when there is none for exactly this file. */
        public int find(String path, long size, long time) {
            Object found = ordinals.get(path);
            if (found == null) {
                return -1;
            }
            int i = ((Integer) found).intValue();
            return sizes[i] == size && times[i] == time ? i : -1;
        }
    }

    /** What was decided about one scan; read by explain, replay and the query log. */
    public static final class Scan {
        public String root;
        public long version;
        public String question = "";
        public String failure = "";
        public String format = "";
        public long filesTotal;
        public long bytesTotal;
        public long filesOffered;
        public long bytesOffered;
        public long filesKept;
        public long bytesKept;
        public long filesUnindexed;
        public long bytesUnindexed;
        public BitSet offered = new BitSet();
        public BitSet skipped = new BitSet();
        public LogicalRelation relation;
        public Expression condition;

        /** Whether somebody wants to know what was decided, and not only its result. */
        public boolean told;

        /** Forgets the figures, for files that are counted anew. */
        public void restart() {
            filesOffered = 0;
            bytesOffered = 0;
            filesKept = 0;
            bytesKept = 0;
            filesUnindexed = 0;
            bytesUnindexed = 0;
            offered.clear();
            skipped.clear();
        }

        /** Everything but the bits, as JSON. */
        public String summary() {
            return "{\"root\":"
                    + quote(String.valueOf(root))
                    + ",\"version\":"
                    + version
                    + ",\"format\":"
                    + quote(format)
                    + ",\"question\":"
                    + (question.length() == 0 ? "null" : question)
                    + ",\"failure\":"
                    + quote(failure)
                    + ",\"files_total\":"
                    + filesTotal
                    + ",\"bytes_total\":"
                    + bytesTotal
                    + ",\"files_offered\":"
                    + filesOffered
                    + ",\"bytes_offered\":"
                    + bytesOffered
                    + ",\"files_kept\":"
                    + filesKept
                    + ",\"bytes_kept\":"
                    + bytesKept
                    + ",\"files_unindexed\":"
                    + filesUnindexed
                    + ",\"bytes_unindexed\":"
                    + bytesUnindexed
                    + ",\"partitions\":["
                    + partitions()
                    + "]}";
        }

        /** The names of the columns that the table is partitioned by. */
        private String partitions() {
            if (relation == null) {
                return "";
            }
            String[] names =
                    ((HadoopFsRelation) relation.relation()).partitionSchema().fieldNames();
            StringBuilder out = new StringBuilder();
            for (int i = 0; i < names.length; i++) {
                out.append(i == 0 ? "" : ",").append(quote(names[i]));
            }
            return out.toString();
        }

        /** Positions of the catalog entries that this scan was offered, as little-endian bits. */
        public byte[] offeredBits() {
            return offered.toByteArray();
        }

        public byte[] skippedBits() {
            return skipped.toByteArray();
        }
    }

    /** How one kind of relation is looked at and replaced. */
    public interface Adapter {
        /**
         * The table's root; "" for a relation to leave alone, null for one this adapter does not
         * know.
         */
        String root(HadoopFsRelation relation);

        /**
         * The schema under which the files are read, with physical names; columns it lacks are not
         * judged.
         */
        String schema(HadoopFsRelation relation, Table table);

        /**
         * An index over the files that are not skipped, the same if none is; fills in the scan's
         * figures.
         */
        FileIndex prune(HadoopFsRelation relation, Table table, BitSet skip, Scan scan);

        /**
         * The root of a table whose scan belongs in the query log; "" for a scan that nobody asked
         * for, such as one that copies the rows which a command leaves alone; null for one this
         * adapter does not know.
         */
        String loggedRoot(HadoopFsRelation relation, boolean writing);

        /** How many files the table has. */
        long filesTotal(HadoopFsRelation relation);
    }

    public void addAdapter(Adapter adapter) {
        adapters.add(0, adapter);
    }

    public void setActive(boolean value) {
        active = value;
    }

    public boolean isActive() {
        return active;
    }

    /** Registers a table; paths are separated by NUL, numbers are big-endian longs. */
    public void register(String root, long version, byte[] paths, byte[] sizes, byte[] times) {
        Table table = tableOf(root, paths, sizes, times);
        table.version = version;
        tables.put(root, table);
    }

    public static Table tableOf(String root, byte[] paths, byte[] sizes, byte[] times) {
        String text = new String(paths, StandardCharsets.UTF_8);
        String[] split = text.length() == 0 ? new String[0] : text.split("\0", -1);
        return new Table(root, split, longs(sizes), longs(times));
    }

    public void unregister(String root) {
        tables.remove(root);
    }

    public void forgetAbsent() {
        absentSince = 0L;
    }

    private static long[] longs(byte[] bytes) {
        long[] out = new long[bytes.length / 8];
        ByteBuffer.wrap(bytes).asLongBuffer().get(out);
        return out;
    }

    public static void warn(String sentence) {
        LOG.warn(sentence);
    }

    /**
     * The registered table at or above a root path, or null. Unknown roots are looked at once a
     * minute.
     */
    public Table lookup(String root) {
        if (root.contains(OWN_FOLDER)) {
            return null;
        }
        long now = System.nanoTime();
        if (now - absentSince > ABSENT_NANOS) {
            absentSince = now;
            tables.values().removeIf(new IsAbsent(absent));
        }
        Object found = tables.get(root);
        if (found == null && discoverer != null) {
            tables.putIfAbsent(root, absent);
            discoverer.apply(root);
            found = tables.get(root);
        }
        if (found != null && found != absent) {
            return (Table) found;
        }
        for (int cut = root.lastIndexOf('/'); cut > 0; cut = root.lastIndexOf('/', cut - 1)) {
            Object above = tables.get(root.substring(0, cut));
            if (above != null && above != absent) {
                return (Table) above;
            }
        }
        return null;
    }

    static final class IsAbsent implements java.util.function.Predicate {
        private final Object absent;

        IsAbsent(Object absent) {
            this.absent = absent;
        }

        public boolean test(Object value) {
            return value == absent;
        }
    }

    // ---------------------------------------------------------------- the rule

    /** Whether the session whose query is being planned skips. */
    public boolean wanted() {
        return active && SQLConf.get().getConfString(SWITCH, "true").equalsIgnoreCase("true");
    }

    /** The optimizer rule. */
    public static final class SkipRule extends Rule {
        private final Skipstone shim;

        SkipRule(Skipstone shim) {
            this.shim = shim;
        }

        public TreeNode apply(TreeNode plan) {
            return shim.wanted() ? shim.rewrite((LogicalPlan) plan) : plan;
        }
    }

    static final class Down extends AbstractFunction1 {
        private final Skipstone shim;

        Down(Skipstone shim) {
            this.shim = shim;
        }

        public Object apply(Object node) {
            return shim.rewrite((LogicalPlan) node);
        }
    }

    /** The same scan, of the files of another index. */
    public static LogicalRelation reading(
            LogicalRelation scan, HadoopFsRelation relation, FileIndex index) {
        HadoopFsRelation other =
                new HadoopFsRelation(
                        index,
                        relation.partitionSchema(),
                        relation.dataSchema(),
                        relation.bucketSpec(),
                        relation.fileFormat(),
                        relation.options(),
                        relation.sparkSession());
        return new LogicalRelation(
                other, scan.output(), scan.catalogTable(), scan.isStreaming(), scan.stream());
    }

    /**
     * Puts the rule behind all rules of a session, those of others included, unless it is there.
     */
    public void install(org.apache.spark.sql.classic.SparkSession session) {
        ExperimentalMethods methods = session.sessionState().experimentalMethods();
        synchronized (methods) {
            if (!methods.extraOptimizations().contains(rule)) {
                methods.extraOptimizations_$eq((Seq) methods.extraOptimizations().appended(rule));
            }
        }
    }

    public void uninstall(org.apache.spark.sql.classic.SparkSession session) {
        ExperimentalMethods methods = session.sessionState().experimentalMethods();
        synchronized (methods) {
            methods.extraOptimizations_$eq(
                    (Seq) methods.extraOptimizations().filterNot(new IsRule(rule)));
        }
    }

    static final class IsRule extends AbstractFunction1 {
        private final Rule rule;

        IsRule(Rule rule) {
            this.rule = rule;
        }

        public Object apply(Object other) {
            return Boolean.valueOf(other == rule);
        }
    }

    /** A rule that does nothing. */
    public static final class NoRule extends Rule {
        public TreeNode apply(TreeNode plan) {
            return plan;
        }
    }

    /**
     * Sessions made by newSession() start without the rules of their parent but share its
     * extensions. Spark asks the extensions for rules whenever it lists a session's batches, just
     * before it looks at the session's own extra rules: the moment to install ours there.
     */
    static final class Installer extends AbstractFunction1 {
        private final Skipstone shim;

        Installer(Skipstone shim) {
            this.shim = shim;
        }

        public Object apply(Object session) {
            if (shim.active) {
                shim.install((org.apache.spark.sql.classic.SparkSession) session);
            }
            return new NoRule();
        }
    }

    public scala.Function1 installer() {
        return new Installer(this);
    }

    /**
     * Delta prepares the scans of subqueries only with those of the query around them, so both are
     * looked at.
     */
    LogicalPlan rewrite(LogicalPlan plan) {
        LogicalPlan done = rewriteScans(plan);
        return done.containsPattern(SUBQUERY)
                ? (LogicalPlan) done.mapExpressions(new Inside(this))
                : done;
    }

    private static final scala.Enumeration.Value SUBQUERY = TreePattern.PLAN_EXPRESSION();

    /** Looks for subqueries inside an expression. */
    static final class Inside extends AbstractFunction1 {
        private final Skipstone shim;

        Inside(Skipstone shim) {
            this.shim = shim;
        }

        public Object apply(Object found) {
            Expression expression = (Expression) found;
            if (expression instanceof PlanExpression) {
                PlanExpression subquery = (PlanExpression) expression;
                if (subquery.plan() instanceof LogicalPlan) {
                    LogicalPlan before = (LogicalPlan) subquery.plan();
                    LogicalPlan after = shim.rewrite(before);
                    return after == before ? subquery : subquery.withNewPlan(after);
                }
                return subquery;
            }
            return expression.containsPattern(SUBQUERY) ? expression.mapChildren(this) : expression;
        }
    }

    private LogicalPlan rewriteScans(LogicalPlan plan) {
        if (plan instanceof Filter) {
            Filter filter = (Filter) plan;
            if (filter.child() instanceof LogicalRelation) {
                LogicalRelation scan = (LogicalRelation) filter.child();
                LogicalRelation pruned = prune(scan, filter.condition());
                return pruned == scan ? plan : new Filter(filter.condition(), pruned);
            }
        }
        return (LogicalPlan) plan.mapChildren(new Down(this));
    }

    private LogicalRelation prune(LogicalRelation scan, Expression condition) {
        if (scan.isStreaming() || !(scan.relation() instanceof HadoopFsRelation)) {
            return scan;
        }
        HadoopFsRelation relation = (HadoopFsRelation) scan.relation();
        if (relation.location() instanceof Pruned
                || !(relation.fileFormat() instanceof ParquetFileFormat)) {
            return scan;
        }
        Scan record = new Scan();
        record.told = recorder.get() != null;
        try {
            for (int i = 0; i < adapters.size(); i++) {
                Adapter adapter = (Adapter) adapters.get(i);
                String root = adapter.root(relation);
                if (root != null) {
                    Table table = root.length() == 0 ? null : lookup(root);
                    return table == null
                            ? scan
                            : ask(adapter, table, scan, relation, condition, record);
                }
            }
        } catch (VirtualMachineError fatal) {
            throw fatal;
        } catch (Throwable failure) {
            if (failure instanceof InterruptedException) {
                Thread.currentThread().interrupt();
            }
            record.failure = String.valueOf(failure.getMessage());
            countAll(record, relation.location());
            remember(record);
            LOG.warn("skipstone reads all of " + record.root + ": " + record.failure);
        }
        return scan;
    }

    /** The figures of a scan that reads whatever it would read without us. */
    private static void countAll(Scan record, FileIndex files) {
        record.offered.clear();
        record.skipped.clear();
        try {
            long count = files.inputFiles().length;
            long size = files.sizeInBytes();
            record.filesTotal = count;
            record.filesOffered = count;
            record.filesKept = count;
            record.bytesTotal = size;
            record.bytesOffered = size;
            record.bytesKept = size;
        } catch (Exception unlisted) {
            LOG.warn("skipstone cannot list " + record.root + ": " + unlisted);
        }
    }

    private LogicalRelation ask(
            Adapter adapter,
            Table table,
            LogicalRelation scan,
            HadoopFsRelation relation,
            Expression condition,
            Scan record)
            throws Exception {
        record.root = table.root;
        record.version = table.version;
        record.relation = scan;
        record.condition = condition;
        List conjuncts = new ArrayList();
        split(condition, conjuncts);
        record.question = question(table, relation, conjuncts, adapter.schema(relation, table));
        Object answer = decider.apply(record.question);
        if (!(answer instanceof byte[])) {
            throw new IllegalStateException(String.valueOf(answer));
        }
        BitSet skip = BitSet.valueOf((byte[]) answer);
        FileIndex index = adapter.prune(relation, table, skip, record);
        remember(record);
        return index == relation.location() ? scan : reading(scan, relation, index);
    }

    private void remember(Scan record) {
        Object list = recorder.get();
        if (list != null) {
            ((List) list).add(record);
        }
    }

    /** Optimizes the plan of a query anew and returns what was decided about its scans. */
    public List scansOf(org.apache.spark.sql.classic.Dataset frame) {
        List scans = new ArrayList();
        recorder.set(scans);
        try {
            org.apache.spark.sql.classic.SparkSession session = frame.sparkSession();
            QueryExecution execution =
                    session.sessionState()
                            .executePlan(
                                    frame.queryExecution().logical(), CommandExecutionMode.SKIP());
            execution.optimizedPlan();
        } finally {
            recorder.remove();
        }
        return scans;
    }

    /**
     * How many rows of a scan satisfy its filter; conditions that depend on other plans are left
     * out.
     */
    public long rowsNeeded(Scan record) {
        List conjuncts = new ArrayList();
        split(record.condition, conjuncts);
        Expression condition = null;
        for (int i = 0; i < conjuncts.size(); i++) {
            Expression conjunct = (Expression) conjuncts.get(i);
            if (conjunct.deterministic() && !hasPlan(conjunct)) {
                condition = condition == null ? conjunct : new And(condition, conjunct);
            }
        }
        LogicalPlan plan =
                condition == null ? record.relation : new Filter(condition, record.relation);
        org.apache.spark.sql.classic.SparkSession session =
                (org.apache.spark.sql.classic.SparkSession)
                        ((HadoopFsRelation) record.relation.relation()).sparkSession();
        return org.apache.spark.sql.classic.Dataset.ofRows(session, plan).count();
    }

    // ----------------------------------------------------------- the query log

    /**
     * A scan that was made, as members of a JSON object: "question" and "files_total"; null when it
     * is no scan of a registered table, or one that skipstone or a command made for itself.
     */
    public String logged(HadoopFsRelation scanned, List conjuncts, boolean writing)
            throws Exception {
        HadoopFsRelation relation = scanned;
        if (scanned.location() instanceof PrunedFiles) {
            PrunedFiles pruned = (PrunedFiles) scanned.location();
            if (pruned.table.version == 0L) {
                return null;
            }
            relation =
                    new HadoopFsRelation(
                            pruned.files,
                            scanned.partitionSchema(),
                            scanned.dataSchema(),
                            scanned.bucketSpec(),
                            scanned.fileFormat(),
                            scanned.options(),
                            scanned.sparkSession());
        }
        if (!(relation.fileFormat() instanceof ParquetFileFormat)) {
            return null;
        }
        for (int i = 0; i < adapters.size(); i++) {
            Adapter adapter = (Adapter) adapters.get(i);
            String root = adapter.loggedRoot(relation, writing);
            if (root != null) {
                Table table = root.length() == 0 ? null : lookup(root);
                return table == null
                        ? null
                        : "\"question\":"
                                + question(
                                        table, relation, conjuncts, adapter.schema(relation, table))
                                + ",\"files_total\":"
                                + adapter.filesTotal(relation);
            }
        }
        return null;
    }

    // ------------------------------------------------------------ the question

    /**
     * Settings that change what Spark reads from the same bytes. Statistics hold for one set of
     * them. Reading columns by number is not among them, for Delta switches it on and such columns
     * are never judged.
     */
    private static final String[] READER_SETTINGS = {
        "spark.sql.parquet.binaryAsString",
        "spark.sql.parquet.int96AsTimestamp",
        "spark.sql.parquet.int96TimestampConversion",
        "spark.sql.parquet.datetimeRebaseModeInRead",
        "spark.sql.parquet.int96RebaseModeInRead",
        "spark.sql.legacy.parquet.nanosAsLong",
        "spark.sql.parquet.inferTimestampNTZ.enabled",
        "spark.sql.caseSensitive",
        "spark.sql.legacy.parquet.returnNullStructIfAllFieldsMissing",
        // Whether CHAR values that are stored without their trailing spaces are read with them.
        "spark.sql.legacy.charVarcharAsString",
        "spark.sql.readSideCharPadding"
    };

    /** When set, timestamps that are stored as INT96 are converted by the session's time zone. */
    private static final String CONVERSION = "spark.sql.parquet.int96TimestampConversion";

    private static final String[] READER_OPTIONS = {"datetimerebasemode", "int96rebasemode"};

    public String settingsOf(org.apache.spark.sql.classic.SparkSession session) {
        return settings(session.sessionState().conf());
    }

    private static String settings(SQLConf conf) {
        StringBuilder out = new StringBuilder("{");
        for (int i = 0; i < READER_SETTINGS.length; i++) {
            out.append(i == 0 ? "" : ",").append(quote(READER_SETTINGS[i])).append(':');
            String value = conf.getConfString(READER_SETTINGS[i]);
            boolean zoned = READER_SETTINGS[i].equals(CONVERSION) && value.equals("true");
            out.append(quote(zoned ? value + " " + conf.sessionLocalTimeZone() : value));
        }
        // Timestamps of the hybrid calendar are read by the time zone of the JVM.
        out.append(",\"user.timezone\":").append(quote(java.util.TimeZone.getDefault().getID()));
        return out.append('}').toString();
    }

    private String question(Table table, HadoopFsRelation relation, List conjuncts, String schema)
            throws Exception {
        Iterator options = relation.options().keysIterator();
        while (options.hasNext()) {
            String option = String.valueOf(options.next());
            for (int i = 0; i < READER_OPTIONS.length; i++) {
                if (option.equalsIgnoreCase(READER_OPTIONS[i])) {
                    throw new IllegalStateException(
                            "the read option " + option + " changes what is read");
                }
            }
        }
        StringBuilder usable = new StringBuilder("[");
        StringBuilder unusable = new StringBuilder("[");
        for (int i = 0; i < conjuncts.size(); i++) {
            Expression conjunct = (Expression) conjuncts.get(i);
            String code =
                    !conjunct.deterministic()
                            ? "NON_DETERMINISTIC"
                            : hasPlan(conjunct) ? "SUBQUERY" : null;
            if (code == null) {
                usable.append(usable.length() == 1 ? "" : ",");
                usable.append(CatalystJson.write(conjunct));
            } else {
                unusable.append(unusable.length() == 1 ? "" : ",");
                unusable.append("[")
                        .append(quote(code))
                        .append(",")
                        .append(quote(conjunct.toString()))
                        .append("]");
            }
        }
        SQLConf conf =
                ((org.apache.spark.sql.classic.SparkSession) relation.sparkSession())
                        .sessionState()
                        .conf();
        return "{\"root\":"
                + quote(table.root)
                + ",\"version\":"
                + table.version
                + ",\"conjuncts\":"
                + usable
                + "],\"unusable\":"
                + unusable
                + "],\"settings\":"
                + settings(conf)
                + ",\"schema\":"
                + quote(schema)
                + "}";
    }

    public static void split(Expression condition, List out) {
        if (condition instanceof And) {
            split(((And) condition).left(), out);
            split(((And) condition).right(), out);
        } else {
            out.add(condition);
        }
    }

    private static boolean hasPlan(Expression expression) {
        if (expression instanceof PlanExpression) {
            return true;
        }
        Iterator children = expression.children().iterator();
        while (children.hasNext()) {
            if (hasPlan((Expression) children.next())) {
                return true;
            }
        }
        return false;
    }

    /** A string as JSON. */
    public static String quote(String text) {
        StringBuilder out = new StringBuilder("\"");
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            if (c == '"' || c == '\\') {
                out.append('\\').append(c);
            } else if (c < ' ' || c > '~') {
                out.append("\\u").append(Integer.toHexString(0x10000 | c).substring(1));
            } else {
                out.append(c);
            }
        }
        return out.append('"').toString();
    }

    // --------------------------------------------------------- plain file lists

    /** Marks an index that skipstone has already pruned. */
    public interface Pruned {}

    static final class FilesAdapter implements Adapter {
        public String root(HadoopFsRelation relation) {
            FileIndex location = relation.location();
            if (!(location instanceof PartitioningAwareFileIndex
                    || location instanceof CatalogFileIndex)) {
                return null;
            }
            Seq roots = (Seq) location.rootPaths();
            if (roots.isEmpty()) {
                return null;
            }
            // Of a table whose partitions were chosen from a metastore, the roots are these
            // partitions.
            Path common = (Path) roots.head();
            Iterator others = roots.iterator();
            while (others.hasNext()) {
                Path other = (Path) others.next();
                while (common != null && !within(common, other)) {
                    common = common.getParent();
                }
            }
            return common == null ? null : common.toString();
        }

        private static boolean within(Path above, Path path) {
            return (path + "/").startsWith(above + "/");
        }

        /**
         * A partition's value follows from its path only when the table's root is what is read, and
         * read as partitioned. A metastore may say otherwise, and where a path is not looked at, a
         * column of that name may be stored in the files.
         */
        public String schema(HadoopFsRelation relation, Table table) {
            Seq roots = (Seq) relation.location().rootPaths();
            boolean whole = roots.size() == 1 && roots.head().toString().equals(table.root);
            java.util.Set partitions = lowerCase(relation.partitionSchema().fieldNames());
            java.util.Set doubtful = new java.util.HashSet(table.partitions);
            if (whole && !(relation.location() instanceof CatalogFileIndex)) {
                doubtful.removeAll(partitions);
            } else {
                doubtful.addAll(partitions);
            }
            return marked(without(relation.schema(), doubtful), relation.partitionSchema()).json();
        }

        public String loggedRoot(HadoopFsRelation relation, boolean writing) {
            return root(relation);
        }

        public long filesTotal(HadoopFsRelation relation) {
            FileIndex location = relation.location();
            return location instanceof PartitioningAwareFileIndex
                    ? ((PartitioningAwareFileIndex) location).allFiles().size()
                    : location.inputFiles().length;
        }

        public FileIndex prune(HadoopFsRelation relation, Table table, BitSet skip, Scan scan) {
            scan.format = "parquet";
            PrunedFiles index = new PrunedFiles(relation.location(), table, skip);
            Iterator directories = relation.location().listFiles(emptySeq(), emptySeq()).iterator();
            while (directories.hasNext()) {
                Iterator files = ((PartitionDirectory) directories.next()).files().iterator();
                while (files.hasNext()) {
                    FileStatus file = ((FileStatusWithMetadata) files.next()).fileStatus();
                    count(scan, index.entry(file), skip, file.getLen());
                }
            }
            scan.filesTotal = scan.filesOffered;
            scan.bytesTotal = scan.bytesOffered;
            index.size = scan.bytesKept;
            return scan.filesKept == scan.filesOffered ? relation.location() : index;
        }
    }

    /** Adds, in lower case, the names of the name=value folders of a path. */
    public static void addPartitions(String path, java.util.Set names) {
        int start = 0;
        for (int end = path.indexOf('/'); end >= 0; end = path.indexOf('/', start)) {
            int equals = path.indexOf('=', start);
            if (equals > start && equals < end) {
                names.add(path.substring(start, equals).toLowerCase(java.util.Locale.ROOT));
            }
            start = end + 1;
        }
    }

    public static java.util.Set lowerCase(String[] names) {
        java.util.Set out = new java.util.HashSet();
        for (int i = 0; i < names.length; i++) {
            out.add(names[i].toLowerCase(java.util.Locale.ROOT));
        }
        return out;
    }

    /** The schema without the columns of these lower-case names. */
    public static StructType without(StructType schema, java.util.Set names) {
        List kept = new ArrayList();
        StructField[] fields = schema.fields();
        for (int i = 0; i < fields.length; i++) {
            if (!names.contains(fields[i].name().toLowerCase(java.util.Locale.ROOT))) {
                kept.add(fields[i]);
            }
        }
        return new StructType((StructField[]) kept.toArray(new StructField[kept.size()]));
    }

    /** Says of a column that its values depend on the session's time zone. */
    private static final String ZONED = "skipstone.zoned";

    /**
     * The schema with a mark at the timestamps among the partition columns: they are read from
     * text, most of it without a zone, in the session's time zone. Nothing that was seen in one
     * session holds in another.
     */
    public static StructType marked(StructType schema, StructType partitions) {
        java.util.Set zoned = new java.util.HashSet();
        StructField[] columns = partitions.fields();
        for (int i = 0; i < columns.length; i++) {
            if (columns[i].dataType() instanceof TimestampType) {
                zoned.add(columns[i].name().toLowerCase(java.util.Locale.ROOT));
            }
        }
        if (zoned.isEmpty()) {
            return schema;
        }
        StructField[] fields = (StructField[]) schema.fields().clone();
        for (int i = 0; i < fields.length; i++) {
            StructField field = fields[i];
            if (zoned.contains(field.name().toLowerCase(java.util.Locale.ROOT))) {
                fields[i] =
                        new StructField(
                                field.name(),
                                field.dataType(),
                                field.nullable(),
                                new MetadataBuilder()
                                        .withMetadata(field.metadata())
                                        .putBoolean(ZONED, true)
                                        .build());
            }
        }
        return new StructType(fields);
    }

    /** The same as JSON; text is the JSON of the schema as it is. */
    public static String markedJson(String text, StructType schema, StructType partitions) {
        StructType marked = marked(schema, partitions);
        return marked == schema ? text : marked.json();
    }

    public static Seq emptySeq() {
        return (Seq) scala.collection.immutable.Nil$.MODULE$;
    }

    /** Adds one offered file to a scan's figures. */
    public static boolean count(Scan scan, int entry, BitSet skip, long size) {
        boolean kept = entry < 0 || !skip.get(entry);
        scan.filesOffered++;
        scan.bytesOffered += size;
        if (kept) {
            scan.filesKept++;
            scan.bytesKept += size;
        }
        if (entry < 0) {
            scan.filesUnindexed++;
            scan.bytesUnindexed += size;
        } else {
            scan.offered.set(entry);
            if (!kept) {
                scan.skipped.set(entry);
            }
        }
        return kept;
    }

    /** A file index that lists what another one lists, less the files that cannot match. */
    public static final class PrunedFiles implements FileIndex, Pruned {
        private final FileIndex files;
        private final Table table;
        private final BitSet skip;
        long size;

        public PrunedFiles(FileIndex files, Table table, BitSet skip) {
            this.files = files;
            this.table = table;
            this.skip = skip;
        }

        int entry(FileStatus file) {
            String path = file.getPath().toString();
            String key =
                    path.startsWith(table.root + "/")
                            ? path.substring(table.root.length() + 1)
                            : path;
            return table.find(key, file.getLen(), file.getModificationTime());
        }

        public Seq listFiles(Seq partitionFilters, Seq dataFilters) {
            scala.collection.mutable.ListBuffer out = new scala.collection.mutable.ListBuffer();
            Iterator directories = files.listFiles(partitionFilters, dataFilters).iterator();
            while (directories.hasNext()) {
                PartitionDirectory directory = (PartitionDirectory) directories.next();
                scala.collection.mutable.ListBuffer kept =
                        new scala.collection.mutable.ListBuffer();
                Iterator statuses = directory.files().iterator();
                while (statuses.hasNext()) {
                    FileStatusWithMetadata status = (FileStatusWithMetadata) statuses.next();
                    int entry = entry(status.fileStatus());
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
            Iterator directories = listFiles(emptySeq(), emptySeq()).iterator();
            while (directories.hasNext()) {
                Iterator statuses = ((PartitionDirectory) directories.next()).files().iterator();
                while (statuses.hasNext()) {
                    out.add(
                            ((FileStatusWithMetadata) statuses.next())
                                    .getPath()
                                    .toUri()
                                    .toString());
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

        public scala.Option metadataOpsTimeNs() {
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

    // ----------------------------------------------- small files on any file system

    public byte[] read(Configuration conf, String path) throws Exception {
        Path target = new Path(path);
        InputStream in = target.getFileSystem(conf).open(target);
        try {
            ByteArrayOutputStream out = new ByteArrayOutputStream();
            byte[] buffer = new byte[1 << 16];
            for (int n = in.read(buffer); n >= 0; n = in.read(buffer)) {
                out.write(buffer, 0, n);
            }
            return out.toByteArray();
        } finally {
            in.close();
        }
    }

    /**
     * Schemes of object stores that show a file when it is closed, as Delta's own log stores have
     * it too.
     */
    private static final List WHOLE =
            java.util.Arrays.asList(new String[] {"s3", "s3a", "s3n", "gs"});

    /**
     * Writes a new file. Where a file is seen only when it is closed, it goes straight to its name:
     * there a rename would be a copy that others can see half done. Elsewhere it is written under a
     * name of its own and renamed.
     */
    public void write(Configuration conf, String path, byte[] bytes) throws Exception {
        Path target = new Path(path);
        FileSystem fs = target.getFileSystem(conf);
        if (WHOLE.contains(fs.getUri().getScheme())
                || fs.hasPathCapability(target, CommonPathCapabilities.ABORTABLE_STREAM)) {
            put(fs, target, bytes);
            return;
        }
        fs.mkdirs(target.getParent());
        Path draft =
                new Path(
                        target.getParent(),
                        "." + target.getName() + "." + UUID.randomUUID() + ".draft");
        boolean moved = false;
        try {
            put(fs, draft, bytes);
            moved = move(conf, fs, draft, target, bytes);
        } finally {
            if (!moved) {
                discard(fs, draft);
            }
        }
    }

    /** Deletes a draft that came to nothing, for on a full disk they would pile up; it may stay. */
    static void discard(FileSystem fs, Path draft) {
        try {
            fs.delete(draft, false);
        } catch (Throwable e) {
            // What kept it from being written is what the caller should hear of.
        }
    }

    /** Some file systems do not rename to a name that is taken. By the same bytes it may be. */
    private boolean move(Configuration conf, FileSystem fs, Path draft, Path target, byte[] bytes)
            throws Exception {
        if (fs.rename(draft, target)) {
            return true;
        }
        if (fs.exists(target)) {
            if (java.util.Arrays.equals(read(conf, target.toString()), bytes)) {
                return false;
            }
            fs.delete(target, false);
            if (fs.rename(draft, target)) {
                return true;
            }
        }
        throw new java.io.IOException("cannot rename " + draft + " to " + target);
    }

    private static void put(FileSystem fs, Path target, byte[] bytes) throws Exception {
        FSDataOutputStream out = fs.create(target, true);
        boolean whole = false;
        try {
            out.write(bytes);
            whole = true;
        } finally {
            // To close an object is to publish it, however little of it was written.
            if (!whole && out.hasCapability(CommonPathCapabilities.ABORTABLE_STREAM)) {
                out.abort();
            }
            out.close();
        }
    }

    /**
     * Deletes drafts of writers that died, in the folder of a file that was just written. A draft
     * is written in one go, so one that is older than this file by so much has nobody who writes it
     * any more. Both times are those of the file system, whose clock need not be ours.
     */
    public int sweepDrafts(Configuration conf, String path, long millis) throws Exception {
        Path written = new Path(path);
        FileSystem fs = written.getFileSystem(conf);
        long now = fs.getFileStatus(written).getModificationTime();
        FileStatus[] found = fs.listStatus(written.getParent());
        int swept = 0;
        for (int i = 0; i < found.length; i++) {
            String name = found[i].getPath().getName();
            boolean draft = name.startsWith(".") && name.endsWith(".draft") && found[i].isFile();
            if (draft && now - found[i].getModificationTime() > millis) {
                discard(fs, found[i].getPath());
                swept++;
            }
        }
        return swept;
    }

    /** Names of the files in a folder, sorted; none when the folder is absent. */
    public String[] names(Configuration conf, String path) throws Exception {
        Path target = new Path(path);
        FileStatus[] found;
        try {
            found = target.getFileSystem(conf).listStatus(target);
        } catch (java.io.FileNotFoundException absent) {
            return new String[0];
        }
        String[] out = new String[found.length];
        for (int i = 0; i < found.length; i++) {
            out[i] = found[i].getPath().getName();
        }
        java.util.Arrays.sort(out);
        return out;
    }

    /**
     * "f" for a file; "d" and, after NULs, each name behind its own letter for a directory; null
     * for nothing.
     */
    public String listing(Configuration conf, String path) throws Exception {
        Path target = new Path(path);
        FileSystem fs = target.getFileSystem(conf);
        if (!fs.exists(target)) {
            return null;
        }
        if (fs.getFileStatus(target).isFile()) {
            return "f";
        }
        FileStatus[] found = fs.listStatus(target);
        java.util.Arrays.sort(found);
        StringBuilder out = new StringBuilder("d");
        for (int i = 0; i < found.length; i++) {
            out.append('\0')
                    .append(found[i].isDirectory() ? 'd' : 'f')
                    .append(found[i].getPath().getName());
        }
        return out.toString();
    }

    public void delete(Configuration conf, String path) throws Exception {
        Path target = new Path(path);
        target.getFileSystem(conf).delete(target, false);
    }
}
