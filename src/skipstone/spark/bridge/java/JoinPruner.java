package skipstone;

import org.apache.hadoop.fs.FileStatus;
import org.apache.spark.sql.catalyst.expressions.DynamicPruningExpression;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.execution.BaseSubqueryExec;
import org.apache.spark.sql.execution.FileSourceScanExec;
import org.apache.spark.sql.execution.InSubqueryExec;
import org.apache.spark.sql.execution.ReusedSubqueryExec;
import org.apache.spark.sql.execution.ScanFileListing;
import org.apache.spark.sql.execution.SubqueryBroadcastExec;
import org.apache.spark.sql.execution.datasources.FileStatusWithMetadata;
import org.apache.spark.sql.execution.datasources.HadoopFsRelation;
import org.apache.spark.sql.execution.datasources.parquet.ParquetFileFormat;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import scala.Option;
import scala.collection.Iterator;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.function.Function;

/**
 * Chooses the files of a scan by the keys of a join, which are known when the query runs. The
 * question is the one that is asked at planning, about a condition on the keys.
 *
 * <p>The law: whatever goes wrong, the scan reads what it would read without this.
 */
final class JoinPruner {
    private static final Logger LOG = LoggerFactory.getLogger("skipstone");

    /** Keys that are computed only for this are not collected beyond so many. */
    static final int MOST_KEYS = 100000;

    final JoinRecords records = new JoinRecords();

    /** By question, the shares that were found: a query is planned in several passes. */
    private final Map shares = Collections.synchronizedMap(new JoinRecords.Newest());

    private final TableRegistry tables;
    private final List adapters;
    private volatile Function decider;
    private volatile Function prober;

    JoinPruner(TableRegistry tables, List adapters) {
        this.tables = tables;
        this.adapters = adapters;
    }

    /**
     * @param decider as in {@link ScanPruner}
     * @param prober takes a question about a key, answers with the share of the files that have
     *     keys like those of one file, or with a sentence that says why that is not known
     */
    void connect(Function decider, Function prober) {
        this.decider = decider;
        this.prober = prober;
    }

    /** A scan of a registered table, and how it is looked at. */
    static final class Known {
        final ScanAdapter adapter;
        final HadoopFsRelation relation;
        final CatalogEntries table;

        Known(ScanAdapter adapter, HadoopFsRelation relation, CatalogEntries table) {
            this.adapter = adapter;
            this.relation = relation;
            this.table = table;
        }
    }

    /** Null unless the table is registered. */
    Known known(HadoopFsRelation scanned) {
        Known found = look(scanned);
        return found == null || found.table == null ? null : found;
    }

    /** Whether a plan reads a registered table, subqueries not counted. */
    boolean knowsAny(LogicalPlan plan) {
        Iterator leaves = plan.collectLeaves().iterator();
        while (leaves.hasNext()) {
            HadoopFsRelation files = PartnersOfScans.relationOf(leaves.next());
            if (files != null && known(files) != null) {
                return true;
            }
        }
        return false;
    }

    private Known look(HadoopFsRelation scanned) {
        HadoopFsRelation relation = scanned;
        if (scanned.location() instanceof PrunedFiles) {
            PrunedFiles pruned = (PrunedFiles) scanned.location();
            relation = Relations.reading(scanned, pruned.files, scanned.sparkSession());
        }
        for (int i = 0; i < adapters.size(); i++) {
            ScanAdapter adapter = (ScanAdapter) adapters.get(i);
            String root = adapter.root(relation);
            if (root != null) {
                boolean judged =
                        root.length() > 0 && relation.fileFormat() instanceof ParquetFileFormat;
                return new Known(adapter, relation, judged ? tables.lookup(root) : null);
            }
        }
        return null;
    }

    /** Why files that are read twice may have other rows the second time, null if they have not. */
    String changes(HadoopFsRelation files, boolean twice) {
        Known found = look(files);
        if (found != null && found.adapter.root(found.relation).length() == 0) {
            return "the version of a table in it is not fixed";
        }
        return twice && (found == null || !found.adapter.isFixed())
                ? "it would be computed twice, and its files may be overwritten meanwhile"
                : null;
    }

    /**
     * The share of a table's files that have keys like those of one file, or the sentence that says
     * why that is not known.
     */
    Object share(Known scan, Expression key) throws Exception {
        List keys = new ArrayList();
        keys.add(key);
        String question =
                ScanQuestion.json(
                        scan.table,
                        scan.relation,
                        keys,
                        scan.adapter.schema(scan.relation, scan.table),
                        null);
        Object known = shares.get(question);
        if (known != null) {
            return known;
        }
        String answer = String.valueOf(prober.apply(question));
        try {
            Double share = Double.valueOf(answer);
            shares.put(question, share);
            return share;
        } catch (NumberFormatException sentence) {
            return answer;
        }
    }

    /** The files that are left for the keys that the scan's subqueries have found. */
    ScanFileListing keep(FileSourceScanExec scan, ScanFileListing all) {
        List filters = new ArrayList();
        Iterator each = scan.dataFilters().iterator();
        while (each.hasNext()) {
            Object filter = each.next();
            if (filter instanceof DynamicPruningExpression
                    && ((DynamicPruningExpression) filter).child() instanceof InSubqueryExec) {
                filters.add(((DynamicPruningExpression) filter).child());
            }
        }
        if (filters.isEmpty()) {
            return all;
        }
        JoinRecords.Run run = new JoinRecords.Run(all);
        Option active = scan.session() == null ? null : ActiveSession.swap(scan.session());
        try {
            ScanFileListing kept = keep(scan, all, filters, run);
            run.left(kept);
            return kept;
        } catch (VirtualMachineError fatal) {
            throw fatal;
        } catch (Throwable failure) {
            if (failure instanceof InterruptedException) {
                Thread.currentThread().interrupt();
            }
            run.failure = String.valueOf(failure.getMessage());
            LOG.warn("skipstone reads what a join might have skipped: " + run.failure);
            return all;
        } finally {
            if (active != null) {
                ActiveSession.restore(active);
            }
            records.ran(filters, run);
        }
    }

    private ScanFileListing keep(
            FileSourceScanExec scan, ScanFileListing all, List filters, JoinRecords.Run run)
            throws Exception {
        List conjuncts = new ArrayList();
        for (int i = 0; i < filters.size(); i++) {
            InSubqueryExec filter = (InSubqueryExec) filters.get(i);
            Object[] values = valuesOf(filter);
            run.keys.add(Integer.valueOf(values.length));
            if (values.length > MOST_KEYS && !broadcast(filter.plan())) {
                run.failure = "there are more than " + MOST_KEYS + " keys";
                continue;
            }
            Expression condition = KeyPredicate.of(filter.child(), values);
            if (condition != null) {
                conjuncts.add(condition);
            }
        }
        Known found = known(scan.relation());
        if (conjuncts.isEmpty() || found == null) {
            return all;
        }
        Object answer =
                decider.apply(
                        ScanQuestion.json(
                                found.table,
                                found.relation,
                                conjuncts,
                                found.adapter.schema(found.relation, found.table),
                                null));
        if (!(answer instanceof byte[])) {
            throw new IllegalStateException(String.valueOf(answer));
        }
        ScanAnswer decided = new ScanAnswer((byte[]) answer);
        long openCost = scan.getSqlConf(scan.relation().sparkSession()).filesOpenCostInBytes();
        return decided.skip.isEmpty()
                ? all
                : new KeptListing(all, new NotSkipped(found, decided), openCost);
    }

    private static Object[] valuesOf(InSubqueryExec filter) {
        Option found = filter.values();
        if (found.isEmpty()) {
            throw new IllegalStateException("the keys of the join are not known yet");
        }
        return (Object[]) found.get();
    }

    private static boolean broadcast(BaseSubqueryExec plan) {
        BaseSubqueryExec found =
                plan instanceof ReusedSubqueryExec ? ((ReusedSubqueryExec) plan).child() : plan;
        return found instanceof SubqueryBroadcastExec;
    }

    /** Leaves out the files whose entries are skipped; files of replicas have none. */
    static final class NotSkipped implements KeptListing.Kept {
        private final Known scan;
        private final ScanAnswer answer;

        NotSkipped(Known scan, ScanAnswer answer) {
            this.scan = scan;
            this.answer = answer;
        }

        public boolean reads(FileStatusWithMetadata file) {
            FileStatus status = file.fileStatus();
            int entry = scan.adapter.entry(scan.relation, scan.table, status);
            return entry < 0 || !answer.skip.get(entry);
        }
    }
}
