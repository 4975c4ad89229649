package skipstone;

import org.apache.spark.SparkContext;
import org.apache.spark.scheduler.SparkListener;
import org.apache.spark.scheduler.SparkListenerApplicationEnd;
import org.apache.spark.scheduler.SparkListenerEvent;
import org.apache.spark.sql.execution.ui.SparkListenerSQLExecutionEnd;
import org.apache.spark.sql.execution.ui.SparkListenerSQLExecutionStart;

import java.util.HashSet;
import java.util.Set;

/**
 * Records the scans that finished queries made. It listens on a queue of its own, so that no query
 * waits for it: each scan becomes a line of JSON, and Python turns the files of such lines into
 * rows of the tables' query logs.
 *
 * <p>Nothing here can fail a query.
 */
public final class QueryLog extends SparkListener {
    /** The tag of jobs whose queries are not recorded. */
    public static final String UNLOGGED = "skipstone-unlogged";

    private static final String QUEUE = "skipstone";

    private Skipstone shim;
    private SparkContext context;
    private LogWriter writer;
    private SpillQueue lines;
    private String origin;
    private final Set unlogged = new HashSet();

    /**
     * Begins to listen; mostBytes bounds the file that is being written, and what waits in memory
     * for it.
     */
    public void start(
            Skipstone shim, SparkContext context, String folder, int capacity, long mostBytes)
            throws Exception {
        this.shim = shim;
        this.context = context;
        this.writer = new LogWriter();
        this.lines = new SpillQueue(folder, writer.id(), capacity, mostBytes);
        this.origin =
                ",\"user\":"
                        + JsonText.quote(context.sparkUser())
                        + ",\"application\":"
                        + JsonText.quote(context.appName());
        writer.begin();
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
        end();
    }

    private void end() {
        lines.spill();
        writer.end();
    }

    public String id() {
        return writer.id();
    }

    /** Whether the writer of this id may still write: same machine, process still there. */
    public boolean mayRun(String other) throws Exception {
        return writer.mayRun(other);
    }

    /** Until the events of all queries that have ended are handled, or the time is over. */
    public boolean awaitEnded(long milliseconds) {
        try {
            context.listenerBus().waitUntilEmpty(milliseconds);
            return true;
        } catch (java.util.concurrent.TimeoutException busy) {
            return false;
        }
    }

    public void onApplicationEnd(SparkListenerApplicationEnd end) {
        end();
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
                    new FinishedQuery(shim.loggedScans(), lines, origin, end)
                            .record(end.qe().executedPlan());
                }
            }
        } catch (StackOverflowError deep) {
            // Spark would stop its whole context over an error on this thread.
            lines.drop("a scan could not be described", deep, 1);
        } catch (VirtualMachineError fatal) {
            throw fatal;
        } catch (Throwable problem) {
            lines.drop("a scan could not be described", problem, 1);
        }
    }

    /** Appends what waits in memory to the file. */
    public void spill() {
        lines.spill();
    }

    /**
     * Closes the file, if there is one, so that Python may have it; returns lines that could not be
     * written.
     */
    public String rotate() {
        return lines.rotate();
    }

    /** The number of the file that is being written; those before it are closed. */
    public long number() {
        return lines.number();
    }

    /** {"recorded": n, "waiting": n, "dropped": {reason: n}, "problems": [...]} */
    public String status() {
        return lines.status();
    }
}
