package skipstone;

import org.apache.spark.SparkContext;
import org.apache.spark.scheduler.SparkListener;
import org.apache.spark.scheduler.SparkListenerApplicationEnd;
import org.apache.spark.scheduler.SparkListenerEvent;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.expressions.BloomFilterMightContain;
import org.apache.spark.sql.catalyst.expressions.DynamicPruningExpression;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.plans.logical.EmptyRelation;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.execution.ColumnarToRowExec;
import org.apache.spark.sql.execution.EmptyRelationExec;
import org.apache.spark.sql.execution.FileSourceScanExec;
import org.apache.spark.sql.execution.FilterExec;
import org.apache.spark.sql.execution.InputAdapter;
import org.apache.spark.sql.execution.LimitExec;
import org.apache.spark.sql.execution.ProjectExec;
import org.apache.spark.sql.execution.SparkPlan;
import org.apache.spark.sql.execution.WholeStageCodegenExec;
import org.apache.spark.sql.execution.adaptive.AdaptiveSparkPlanExec;
import org.apache.spark.sql.execution.adaptive.LogicalQueryStage;
import org.apache.spark.sql.execution.adaptive.QueryStageExec;
import org.apache.spark.sql.execution.exchange.Exchange;
import org.apache.spark.sql.execution.metric.SQLMetric;
import org.apache.spark.sql.execution.ui.SparkListenerSQLExecutionEnd;
import org.apache.spark.sql.execution.ui.SparkListenerSQLExecutionStart;

import scala.collection.Iterator;

import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Set;
import java.util.TreeMap;

/**
 * Records the scans that finished queries made. It listens on a queue of its own, so that no query
 * waits for it: each scan becomes a line of JSON in memory, and the lines go to a file on local
 * disk when many have gathered, when asked for, and when the application ends. Python turns such
 * files into rows of the tables' query logs.
 *
 * <p>What goes wrong is counted and told once; nothing here can fail a query.
 */
public final class QueryLog extends SparkListener {
    /** The tag of jobs whose queries are not recorded. */
    public static final String UNLOGGED = "skipstone-unlogged";

    private static final String QUEUE = "skipstone";
    private static final String RUNNING = "skipstone.log.";

    private Skipstone shim;
    private SparkContext context;
    private String id;
    private Path folder;
    private int capacity;
    private long mostBytes;
    private String origin;
    private long number;
    private long spilledBytes;
    private long waitingBytes;
    private long recorded;
    private List waiting = new ArrayList();
    private final Set unlogged = new HashSet();
    private final TreeMap dropped = new TreeMap();
    private final Set told = new java.util.TreeSet();

    /**
     * Begins to listen; mostBytes bounds the file that is being written, and what waits in memory
     * for it.
     */
    public void start(
            Skipstone shim, SparkContext context, String folder, int capacity, long mostBytes)
            throws Exception {
        this.shim = shim;
        this.context = context;
        this.folder = Paths.get(folder, new String[0]);
        this.capacity = capacity;
        this.mostBytes = mostBytes;
        ProcessHandle process = (ProcessHandle) call("current", new Class[0], new Object[0]);
        String host =
                java.net.InetAddress.getLocalHost().getHostName().replaceAll("[^A-Za-z0-9-]", "-");
        this.id =
                host
                        + "_"
                        + process.pid()
                        + "_"
                        + startedAt(process)
                        + "_"
                        + Long.toHexString(System.nanoTime());
        this.origin =
                ",\"user\":"
                        + Skipstone.quote(context.sparkUser())
                        + ",\"application\":"
                        + Skipstone.quote(context.appName());
        System.setProperty(RUNNING + id, "true");
        attach();
    }

    public void attach() {
        context.listenerBus().addToQueue(this, QUEUE);
    }

    public void detach() {
        context.listenerBus().removeListener(this);
    }

    public void stop() {
        detach();
        spill();
        System.clearProperty(RUNNING + id);
    }

    public String id() {
        return id;
    }

    /**
     * Whether the listener that wrote files under this id may still do so: same machine, process
     * still there.
     */
    public boolean mayRun(String other) throws Exception {
        String[] parts = other.split("_");
        String[] own = id.split("_");
        if (parts.length != 4 || !parts[0].equals(own[0])) {
            return true;
        }
        if (parts[1].equals(own[1]) && parts[2].equals(own[2])) {
            return System.getProperty(RUNNING + other) != null;
        }
        java.util.Optional process =
                (java.util.Optional)
                        call("of", new Class[] {Long.TYPE}, new Object[] {Long.valueOf(parts[1])});
        return process.isPresent()
                && startedAt((ProcessHandle) process.get()).equals(parts[2])
                && !isZombie(parts[1]);
    }

    /**
     * In a container nobody may collect what is left of a killed process, which Java then takes for
     * alive.
     */
    private static boolean isZombie(String pid) throws Exception {
        Path stat = Paths.get("/proc/" + pid + "/stat", new String[0]);
        if (!stat.toFile().exists()) {
            return false;
        }
        String text = new String(Files.readAllBytes(stat), StandardCharsets.UTF_8);
        return text.substring(text.lastIndexOf(')') + 1).trim().startsWith("Z");
    }

    /** Janino cannot compile calls of an interface's static methods. */
    private static Object call(String method, Class[] types, Object[] arguments) throws Exception {
        return ProcessHandle.class.getMethod(method, types).invoke(null, arguments);
    }

    private static String startedAt(ProcessHandle process) {
        java.util.Optional started = process.info().startInstant();
        return started.isPresent()
                ? Long.toString(((java.time.Instant) started.get()).toEpochMilli())
                : "0";
    }

    /** Until the events of all queries that have ended are handled, or the time is over. */
    public boolean settle(long milliseconds) {
        try {
            context.listenerBus().waitUntilEmpty(milliseconds);
            return true;
        } catch (java.util.concurrent.TimeoutException busy) {
            return false;
        }
    }

    // ------------------------------------------------------------------- events

    public void onApplicationEnd(SparkListenerApplicationEnd end) {
        spill();
        System.clearProperty(RUNNING + id);
    }

    public void onOtherEvent(SparkListenerEvent event) {
        try {
            if (event instanceof SparkListenerSQLExecutionStart) {
                SparkListenerSQLExecutionStart start = (SparkListenerSQLExecutionStart) event;
                if (start.jobTags().contains(UNLOGGED)) {
                    unlogged.add(Long.valueOf(start.executionId()));
                }
            } else if (event instanceof SparkListenerSQLExecutionEnd) {
                SparkListenerSQLExecutionEnd end = (SparkListenerSQLExecutionEnd) event;
                boolean wanted = !unlogged.remove(Long.valueOf(end.executionId()));
                if (wanted && end.qe() != null && end.executionFailure().isEmpty()) {
                    new Walk(this, end).from(end.qe().executedPlan());
                }
            }
        } catch (StackOverflowError deep) {
            // Spark would stop its whole context over an error on this thread.
            drop("a scan could not be described", deep, 1);
        } catch (VirtualMachineError fatal) {
            throw fatal;
        } catch (Throwable problem) {
            drop("a scan could not be described", problem, 1);
        }
    }

    /**
     * One walk over the plan of a finished query. Scans that another part of the plan reuses are
     * made once.
     */
    static final class Walk {
        private final QueryLog log;
        private final SparkListenerSQLExecutionEnd end;
        private final IdentityHashMap seen = new IdentityHashMap();

        Walk(QueryLog log, SparkListenerSQLExecutionEnd end) {
            this.log = log;
            this.end = end;
        }

        void from(SparkPlan plan) {
            down(plan, new ArrayList(), false);
        }

        private void down(SparkPlan plan, List filters, boolean limited) {
            if (seen.put(plan, plan) != null) {
                return;
            }
            Iterator subqueries = plan.subqueries().iterator();
            while (subqueries.hasNext()) {
                down((SparkPlan) subqueries.next(), new ArrayList(), false);
            }
            if (plan instanceof FileSourceScanExec) {
                try {
                    log.record((FileSourceScanExec) plan, filters, limited, end);
                } catch (Exception problem) {
                    log.drop("a scan could not be described", problem, 1);
                }
            } else if (plan instanceof AdaptiveSparkPlanExec) {
                down(((AdaptiveSparkPlanExec) plan).executedPlan(), filters, limited);
            } else if (plan instanceof QueryStageExec) {
                down(((QueryStageExec) plan).plan(), new ArrayList(), false);
            } else if (plan instanceof EmptyRelationExec) {
                within(((EmptyRelationExec) plan).logical());
            } else {
                List above = new ArrayList();
                if (plan instanceof FilterExec
                        || plan instanceof ProjectExec
                        || plan instanceof ColumnarToRowExec
                        || plan instanceof WholeStageCodegenExec
                        || plan instanceof InputAdapter) {
                    above.addAll(filters);
                }
                if (plan instanceof FilterExec) {
                    above.add(plan);
                }
                // An exchange takes in all of its input; without one in between, a limit may stop a
                // scan early.
                boolean below =
                        !(plan instanceof Exchange) && (limited || plan instanceof LimitExec);
                Iterator children = plan.children().iterator();
                while (children.hasNext()) {
                    down((SparkPlan) children.next(), above, below);
                }
            }
        }

        /**
         * A part that was left out once it was known to be empty: the stages that told so have run.
         */
        private void within(LogicalPlan plan) {
            if (plan instanceof LogicalQueryStage) {
                SparkPlan stage = ((LogicalQueryStage) plan).physicalPlan();
                if (!(stage instanceof QueryStageExec)
                        || ((QueryStageExec) stage).isMaterialized()) {
                    down(stage, new ArrayList(), false);
                }
            } else if (plan instanceof EmptyRelation) {
                within(((EmptyRelation) plan).logical());
            }
            Iterator children = plan.children().iterator();
            while (children.hasNext()) {
                within((LogicalPlan) children.next());
            }
        }
    }

    private void record(
            FileSourceScanExec scan,
            List filters,
            boolean limited,
            SparkListenerSQLExecutionEnd end)
            throws Exception {
        List conjuncts = new ArrayList();
        Iterator partitions = scan.partitionFilters().iterator();
        while (partitions.hasNext()) {
            addAsked((Expression) partitions.next(), scan, conjuncts);
        }
        for (int i = 0; i < filters.size(); i++) {
            addAsked(((FilterExec) filters.get(i)).condition(), scan, conjuncts);
        }
        boolean writing =
                end.executionName().isDefined()
                        && end.executionName().get().equals("deltaTransactionalWrite");
        String asked = shim.logged(scan.relation(), conjuncts, writing);
        if (asked == null) {
            return;
        }
        StringBuilder columns = new StringBuilder();
        Iterator output = scan.output().iterator();
        while (output.hasNext()) {
            String name = ((Attribute) output.next()).name();
            columns.append(columns.length() == 0 ? "" : ",").append(Skipstone.quote(name));
        }
        long files = metric(scan, "numFiles");
        long bytes = metric(scan, "filesSize");
        if (files <= 0L || bytes <= 0L) {
            // A plan that runs again keeps its list of files, but not the metrics of the first run.
            files = scan.selectedPartitions().totalNumberOfFiles();
            bytes = scan.selectedPartitions().totalFileSize();
        }
        long rows = metric(scan, "numOutputRows");
        long needed =
                filters.isEmpty() ? rows : metric((SparkPlan) filters.get(0), "numOutputRows");
        add(
                "{"
                        + asked
                        + ",\"columns\":["
                        + columns
                        + "],\"files_read\":"
                        + files
                        + ",\"bytes_read\":"
                        + bytes
                        + ",\"rows_read\":"
                        + rows
                        + ",\"rows_needed\":"
                        + (limited ? "null" : Long.toString(needed))
                        + ",\"started\":"
                        + (end.time() - end.duration() / 1000000L)
                        + ",\"seconds\":"
                        + end.duration() / 1e9
                        + origin
                        + "}");
    }

    /**
     * The conjuncts that people asked of this table: none that Spark derives from a join or Delta
     * counts rows by.
     */
    private static void addAsked(Expression condition, FileSourceScanExec scan, List out) {
        List found = new ArrayList();
        Skipstone.split(condition, found);
        for (int i = 0; i < found.size(); i++) {
            Expression conjunct = (Expression) found.get(i);
            boolean derived =
                    conjunct instanceof DynamicPruningExpression
                            || conjunct instanceof BloomFilterMightContain
                            || conjunct.references().isEmpty();
            Iterator references = conjunct.references().iterator();
            while (references.hasNext()) {
                derived |= ((Attribute) references.next()).name().startsWith("__delta_internal");
            }
            if (!derived && conjunct.references().subsetOf(scan.outputSet())) {
                out.add(conjunct);
            }
        }
    }

    private static long metric(SparkPlan plan, String name) {
        scala.Option found = plan.metrics().get(name);
        return found.isEmpty() ? 0L : ((SQLMetric) found.get())._value();
    }

    // ---------------------------------------------------------- memory and disk

    private synchronized void add(String line) {
        if (isFull(line)) {
            spill();
        }
        if (isFull(line)) {
            drop("the queue was full", null, 1);
        } else {
            waiting.add(line);
            waitingBytes += line.length();
            recorded++;
        }
    }

    /** By the number of lines and, since each has the schema of its table, by their size. */
    private boolean isFull(String line) {
        return waiting.size() >= capacity || waitingBytes + line.length() > mostBytes;
    }

    private void nothingWaits() {
        waiting = new ArrayList();
        waitingBytes = 0L;
    }

    /**
     * Appends what waits in memory to the file; if that cannot be, it goes on waiting and the file
     * is as before.
     */
    public synchronized void spill() {
        if (waiting.isEmpty()) {
            return;
        }
        byte[] bytes = (String.join("\n", waiting) + "\n").getBytes(StandardCharsets.UTF_8);
        if (spilledBytes + bytes.length > mostBytes) {
            tell("the spill file has reached its limit", null);
            return;
        }
        try {
            Files.createDirectories(folder, only("rwx------"));
            Set options =
                    new HashSet(
                            java.util.Arrays.asList(
                                    new Object[] {
                                        StandardOpenOption.CREATE,
                                        StandardOpenOption.WRITE,
                                        StandardOpenOption.APPEND
                                    }));
            FileChannel channel = FileChannel.open(file(), options, only("rw-------"));
            try {
                long before = channel.size();
                try {
                    ByteBuffer buffer = ByteBuffer.wrap(bytes);
                    while (buffer.hasRemaining()) {
                        channel.write(buffer);
                    }
                } catch (java.io.IOException full) {
                    channel.truncate(before);
                    throw full;
                }
            } finally {
                channel.close();
            }
            spilledBytes += bytes.length;
            nothingWaits();
        } catch (Exception problem) {
            tell("the queue cannot be spilled to " + folder, problem);
        }
    }

    private static FileAttribute[] only(String permissions) {
        return new FileAttribute[] {
            PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString(permissions))
        };
    }

    private Path file() {
        return folder.resolve(id + "." + number + ".jsonl");
    }

    /**
     * Closes the file, if there is one, so that Python may have it; returns lines that could not be
     * written.
     */
    public synchronized String rotate() {
        spill();
        if (spilledBytes > 0L) {
            number++;
            spilledBytes = 0L;
        }
        String left = String.join("\n", waiting);
        nothingWaits();
        return left;
    }

    /** The number of the file that is being written; those before it are closed. */
    public synchronized long number() {
        return number;
    }

    private synchronized void drop(String reason, Throwable problem, int count) {
        Object before = dropped.get(reason);
        dropped.put(
                reason, Long.valueOf((before == null ? 0L : ((Long) before).longValue()) + count));
        tell(reason, problem);
    }

    private synchronized void tell(String what, Throwable problem) {
        if (told.add(what)) {
            Skipstone.warn("query log: " + what + (problem == null ? "" : " (" + problem + ")"));
        }
    }

    /** {"recorded": n, "waiting": n, "dropped": {reason: n}, "problems": [...]} */
    public synchronized String status() {
        StringBuilder reasons = new StringBuilder();
        java.util.Iterator each = dropped.entrySet().iterator();
        while (each.hasNext()) {
            java.util.Map.Entry entry = (java.util.Map.Entry) each.next();
            reasons.append(reasons.length() == 0 ? "" : ",")
                    .append(Skipstone.quote((String) entry.getKey()));
            reasons.append(":").append(entry.getValue());
        }
        StringBuilder problems = new StringBuilder();
        java.util.Iterator all = told.iterator();
        while (all.hasNext()) {
            problems.append(problems.length() == 0 ? "" : ",")
                    .append(Skipstone.quote((String) all.next()));
        }
        return "{\"recorded\":"
                + recorded
                + ",\"waiting\":"
                + waiting.size()
                + ",\"dropped\":{"
                + reasons
                + "},\"problems\":["
                + problems
                + "]}";
    }
}
