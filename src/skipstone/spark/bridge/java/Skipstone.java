package skipstone;

import org.apache.spark.sql.classic.Dataset;
import org.apache.spark.sql.classic.SparkSession;
import org.apache.spark.sql.execution.SparkStrategy;
import org.apache.spark.sql.internal.SQLConf;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Function;

/**
 * The driver-side shim, as Python holds it: an optimizer rule finds filtered scans of registered
 * tables, asks Python which of their files cannot match, and replaces their file index by one over
 * the remaining files. Every decision is Python's; the classes here only carry questions and
 * answers.
 *
 * <p>All of them are compiled at run time by the Janino compiler that Spark ships, hence plain Java
 * without lambdas and raw types at Scala's generic interfaces.
 */
public final class Skipstone {
    /** The session's setting that turns skipping off and on. */
    public static final String SWITCH = "spark.skipstone.enabled";

    private final TableRegistry tables = new TableRegistry();
    private final List adapters = new CopyOnWriteArrayList();
    private final ScanPruner pruner = new ScanPruner(tables, adapters);
    private final LoggedScans loggedScans = new LoggedScans(tables, adapters);
    private final JoinPruner joins = new JoinPruner(tables, adapters);
    private final JoinedReplicas joinedReplicas = new JoinedReplicas(tables, adapters, pruner);
    private final GroupedJoins grouped = new GroupedJoins(this, joins, pruner);
    private final GroupAsker groups = new GroupAsker(pruner);
    private final SessionRules rules =
            new SessionRules(
                    this,
                    new SkipRule(this, pruner, joins, joinedReplicas),
                    new SparkStrategy[] {
                        new DynamicStrategy(joins), new GroupStrategy(this, groups), grouped
                    });
    private volatile boolean active = true;

    public Skipstone() {
        adapters.add(new ParquetScans());
    }

    /**
     * @param decider takes a question as JSON, answers as {@link ScanAnswer} reads it, or with a
     *     sentence that says why not
     * @param prober takes a question about a key, answers with the share of the files that have
     *     keys like those of one file, or with a sentence that says why that is not known
     * @param grouper takes a question about the blocks of two tables, answers with those that each
     *     task of a join reads, as {@link GroupedJoins} reads it
     * @param discoverer takes a root path never seen before, and registers the table if it has a
     *     catalog; null switches discovery off
     */
    public void connect(Function decider, Function prober, Function grouper, Function discoverer) {
        pruner.connect(decider);
        joins.connect(decider, prober);
        grouped.connect(grouper);
        tables.connect(discoverer);
    }

    /**
     * @param chooser takes a question about the columns of a scan, answers with what it reads of
     *     column groups, or with a sentence that says why nothing
     */
    public void connectGroups(Function chooser) {
        groups.connect(chooser);
    }

    /**
     * @param chooser takes a question about the joins of some tables, answers with the joined
     *     replica to read in their place, or with a code and a sentence that say why none
     */
    public void connectJoined(Function chooser) {
        joinedReplicas.connect(chooser);
    }

    /** Adapters that come later are asked first. */
    public void addAdapter(ScanAdapter adapter) {
        adapters.add(0, adapter);
    }

    public void setActive(boolean value) {
        active = value;
    }

    public boolean isActive() {
        return active;
    }

    /** Whether the session whose query is being planned skips. */
    public boolean wanted() {
        return active && SQLConf.get().getConfString(SWITCH, "true").equalsIgnoreCase("true");
    }

    /**
     * Registers a table; paths are separated by NUL, numbers are big-endian longs.
     *
     * @param replicas further copies of its rows, null if there are none
     */
    public void register(
            String root,
            long version,
            byte[] paths,
            byte[] sizes,
            byte[] times,
            ReplicaEntries replicas) {
        tables.register(root, version, paths, sizes, times, replicas);
    }

    /** Which tables the features of a registered one are about through joins, by their roots. */
    public void joined(String root, byte[] partners, int count) {
        tables.joined(root, CatalogEntries.texts(partners, count));
    }

    /** Says whether a registered table has joined replicas. */
    public void hasJoined(String root, boolean has) {
        tables.hasJoined(root, has);
    }

    /** The registered table at or above a root path, or null. */
    public CatalogEntries lookup(String root) {
        return tables.lookup(root);
    }

    public void install(SparkSession session) {
        rules.install(session);
    }

    public void uninstall(SparkSession session) {
        rules.uninstall(session);
    }

    /** For the extensions of a session: puts the rule into the sessions that are made from it. */
    public scala.Function1 installer() {
        return rules.installer();
    }

    /** The settings that change what is read from the same bytes, as JSON. */
    public String settingsOf(SparkSession session) {
        return ReaderSettings.json(session.sessionState().conf());
    }

    /** Optimizes the plan of a query anew and returns what was decided about its scans. */
    public List scansOf(Dataset frame) {
        return PlannedScans.of(pruner, frame);
    }

    /** How many rows of a scan satisfy its filter. */
    public long rowsNeeded(DecidedScan record) {
        return PlannedScans.rowsNeeded(record);
    }

    LoggedScans loggedScans() {
        return loggedScans;
    }
}
