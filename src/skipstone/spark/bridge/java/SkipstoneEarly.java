package skipstone;

import org.apache.spark.sql.catalyst.expressions.ExpressionSet;
import org.apache.spark.sql.catalyst.expressions.ExpressionSet$;
import org.apache.spark.sql.catalyst.plans.logical.Filter;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.Subquery;
import org.apache.spark.sql.catalyst.plans.logical.SupportsSubquery;
import org.apache.spark.sql.catalyst.plans.logical.V2WriteCommand;
import org.apache.spark.sql.catalyst.rules.Rule;
import org.apache.spark.sql.catalyst.trees.TreeNode;
import org.apache.spark.sql.catalyst.trees.TreePattern;
import org.apache.spark.sql.classic.SparkSession;
import org.apache.spark.sql.delta.OptimisticTransaction;
import org.apache.spark.sql.delta.Snapshot;
import org.apache.spark.sql.delta.actions.AddFile;
import org.apache.spark.sql.delta.files.TahoeFileIndex;
import org.apache.spark.sql.delta.files.TahoeLogFileIndex;
import org.apache.spark.sql.delta.stats.DataSize;
import org.apache.spark.sql.delta.stats.DeltaDataSkippingType;
import org.apache.spark.sql.delta.stats.DeltaScan;
import org.apache.spark.sql.execution.datasources.HadoopFsRelation;
import org.apache.spark.sql.execution.datasources.LogicalRelation;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import scala.Option;
import scala.collection.Iterator;
import scala.collection.mutable.ListBuffer;
import scala.runtime.AbstractFunction1;

import java.lang.ref.SoftReference;
import java.lang.ref.WeakReference;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Makes the rule that runs before Delta looks for the files of a scan. Delta does that by a job of
 * its own, which takes longer than all else until a query runs. Where the catalog knows every file
 * of a table, that job finds nothing that the catalog does not know. So a filtered scan of such a
 * table gets an index over all files here, which Delta leaves alone and Skipstone's rule prunes.
 *
 * <p>Whatever is not quite the plain case is left to Delta: see ADR 9.
 */
public final class SkipstoneEarly extends AbstractFunction1 {
    private static final Logger LOG = LoggerFactory.getLogger("skipstone");
    private static final scala.Enumeration.Value SUBQUERY = TreePattern.PLAN_EXPRESSION();
    private static final String SKIPPING = "spark.databricks.delta.stats.skipping";

    /** More files than that are left to Delta, which looks for them on all executors. */
    private static final int MOST_FILES = 20000;

    private Skipstone shim;

    /** By root, what was found out about the newest version of the table. */
    private final ConcurrentHashMap listed = new ConcurrentHashMap();

    public void connect(Skipstone shim) {
        this.shim = shim;
    }

    public Object apply(Object session) {
        return new EarlyRule(this);
    }

    static final class EarlyRule extends Rule {
        private final SkipstoneEarly maker;

        EarlyRule(SkipstoneEarly maker) {
            this.maker = maker;
        }

        public TreeNode apply(TreeNode plan) {
            return maker.shim.wanted() ? maker.prepare((LogicalPlan) plan) : plan;
        }
    }

    /**
     * As with Delta, subqueries wait for the query around them, and writes for their transaction.
     */
    private LogicalPlan prepare(LogicalPlan plan) {
        if (plan instanceof Subquery
                || plan instanceof SupportsSubquery
                || plan instanceof V2WriteCommand) {
            return plan;
        }
        try {
            Map references = new HashMap();
            count(plan, references);
            return references.isEmpty()
                    ? plan
                    : (LogicalPlan) new Early(this, references).apply(plan);
        } catch (VirtualMachineError fatal) {
            throw fatal;
        } catch (Throwable failure) {
            if (failure instanceof InterruptedException) {
                Thread.currentThread().interrupt();
            }
            LOG.info("skipstone leaves a plan to Delta: " + failure);
            return plan;
        }
    }

    /** How often a plan and its subqueries read each Delta table, by its root. */
    private static void count(LogicalPlan plan, Map references) {
        TahoeFileIndex index = indexOf(plan);
        if (index != null) {
            Object before = references.get(index.path());
            references.put(
                    index.path(),
                    Integer.valueOf(before == null ? 1 : ((Integer) before).intValue() + 1));
        }
        countAll(plan.children().iterator(), references);
        if (plan.containsPattern(SUBQUERY)) {
            countAll(plan.subqueries().iterator(), references);
        }
    }

    private static void countAll(Iterator plans, Map references) {
        while (plans.hasNext()) {
            count((LogicalPlan) plans.next(), references);
        }
    }

    private static TahoeFileIndex indexOf(LogicalPlan plan) {
        if (!(plan instanceof LogicalRelation)
                || !(((LogicalRelation) plan).relation() instanceof HadoopFsRelation)) {
            return null;
        }
        Object location = ((HadoopFsRelation) ((LogicalRelation) plan).relation()).location();
        return location instanceof TahoeFileIndex ? (TahoeFileIndex) location : null;
    }

    /**
     * Replaces filtered scans of tables that a query reads once: all scans of a table must see one
     * version of it.
     */
    static final class Early extends AbstractFunction1 {
        private final SkipstoneEarly maker;
        private final Map references;

        Early(SkipstoneEarly maker, Map references) {
            this.maker = maker;
            this.references = references;
        }

        public Object apply(Object node) {
            if (!(node instanceof Filter)
                    || !(((Filter) node).child() instanceof LogicalRelation)) {
                return ((LogicalPlan) node).mapChildren(this);
            }
            LogicalRelation scan = (LogicalRelation) ((Filter) node).child();
            TahoeFileIndex index = indexOf(scan);
            if (!(index instanceof TahoeLogFileIndex)
                    || !Integer.valueOf(1).equals(references.get(index.path()))) {
                return node;
            }
            DeltaScan all = maker.allOf((TahoeLogFileIndex) index);
            return all == null
                    ? node
                    : new Filter(
                            ((Filter) node).condition(),
                            Relations.reading(
                                    scan,
                                    new SkipstoneDelta.Everything((TahoeLogFileIndex) index, all)));
        }
    }

    /**
     * A scan of all files of the newest version; null unless Delta would read just that, by a table
     * without partitions and outside of transactions, which keep account of what they read.
     */
    private DeltaScan allOf(TahoeLogFileIndex index) {
        boolean looks =
                ((SparkSession) index.spark())
                        .sessionState()
                        .conf()
                        .getConfString(SKIPPING, "true")
                        .equalsIgnoreCase("true");
        if (!looks
                || index.isTimeTravelQuery()
                || !index.partitionFilters().isEmpty()
                || OptimisticTransaction.getActive().isDefined()) {
            return null;
        }
        String root = index.path().toString();
        CatalogEntries table = shim.lookup(root);
        if (table == null || !table.root().equals(root) || table.size() > MOST_FILES) {
            return null;
        }
        Snapshot snapshot = index.getSnapshot();
        Option files = snapshot.numOfFilesIfKnown();
        boolean others = files.isDefined() && ((Long) files.get()).longValue() > table.size();
        return others || !snapshot.metadata().partitionColumns().isEmpty()
                ? null
                : allOf(snapshot, table);
    }

    /**
     * A version of a table and a catalog, and a scan of it if the catalog knows all of its files.
     */
    static final class Listed {
        final WeakReference snapshot;
        final long catalog;
        final boolean complete;

        /** Let go when memory is scarce. */
        final SoftReference scan;

        Listed(Snapshot snapshot, long catalog, DeltaScan scan) {
            this.snapshot = new WeakReference(snapshot);
            this.catalog = catalog;
            this.complete = scan != null;
            this.scan = new SoftReference(scan);
        }
    }

    private DeltaScan allOf(Snapshot snapshot, CatalogEntries table) {
        Listed before = (Listed) listed.get(table.root());
        boolean same = before != null && before.snapshot.get() == snapshot;
        DeltaScan scan = same ? (DeltaScan) before.scan.get() : null;
        if (same && before.catalog == table.version() && (scan != null || !before.complete)) {
            return scan;
        }
        if (scan == null) {
            scan = scanOf(snapshot, (AddFile[]) snapshot.allFiles().collect());
        }
        DeltaScan known = knowsAll(table, scan.files().iterator()) ? scan : null;
        listed.put(table.root(), new Listed(snapshot, table.version(), known));
        return known;
    }

    private static boolean knowsAll(CatalogEntries table, Iterator files) {
        while (files.hasNext()) {
            AddFile file = (AddFile) files.next();
            if (table.find(file.path(), file.size(), file.modificationTime()) < 0) {
                return false;
            }
        }
        return true;
    }

    static DeltaScan scanOf(Snapshot snapshot, AddFile[] files) {
        ListBuffer all = new ListBuffer();
        long bytes = 0;
        for (int i = 0; i < files.length; i++) {
            all.addOne(files[i]);
            bytes += files[i].size();
        }
        DataSize size =
                new DataSize(
                        Option.apply(Long.valueOf(bytes)),
                        Option.empty(),
                        Option.apply(Long.valueOf(files.length)),
                        Option.empty());
        ExpressionSet none =
                ExpressionSet$.MODULE$.apply((scala.collection.IterableOnce) ScalaSeq.empty());
        return new DeltaScan(
                snapshot.version(),
                all.toList(),
                size,
                size,
                size,
                snapshot,
                none,
                none,
                none,
                (scala.collection.immutable.Set) scala.collection.immutable.Set$.MODULE$.empty(),
                none,
                0L,
                DeltaDataSkippingType.noSkippingV1());
    }
}
