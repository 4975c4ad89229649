package skipstone;

import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.Literal$;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.execution.datasources.FileIndex;
import org.apache.spark.sql.execution.datasources.HadoopFsRelation;
import org.apache.spark.sql.execution.datasources.LogicalRelation;
import org.apache.spark.sql.execution.datasources.parquet.ParquetFileFormat;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import java.util.ArrayList;
import java.util.BitSet;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.function.Function;

/**
 * Asks Python which files of a filtered scan cannot match, and replaces the scan's file index by
 * one over the remaining files.
 *
 * <p>The law: whatever goes wrong here or in Python, the scan is left as it was.
 */
final class ScanPruner {
    private static final Logger LOG = LoggerFactory.getLogger("skipstone");

    private final TableRegistry tables;
    private final List adapters;
    private volatile Function decider;

    /** Where this thread wants decisions to be reported. */
    private final ThreadLocal report = new ThreadLocal();

    ScanPruner(TableRegistry tables, List adapters) {
        this.tables = tables;
        this.adapters = adapters;
    }

    /**
     * @param decider takes a question as JSON, answers as {@link ScanAnswer} reads it, or with a
     *     sentence that says why not
     */
    void connect(Function decider) {
        this.decider = decider;
    }

    /** Until the report ends, what this thread decides is added to a list. */
    void startReport(List scans) {
        report.set(scans);
    }

    void endReport() {
        report.remove();
    }

    /**
     * The scan with the files that may match.
     *
     * @param anyCopy whether files of replicas may be read in place of the base files
     * @param partners what joins ask of the scan, as JSON; null for nothing
     */
    LogicalRelation prune(
            LogicalRelation scan, Expression condition, boolean anyCopy, String partners) {
        if (scan.isStreaming() || !(scan.relation() instanceof HadoopFsRelation)) {
            return scan;
        }
        HadoopFsRelation relation = (HadoopFsRelation) scan.relation();
        if (relation.location() instanceof PrunedIndex
                || !(relation.fileFormat() instanceof ParquetFileFormat)) {
            return scan;
        }
        DecidedScan record = new DecidedScan();
        record.reported = report.get() != null;
        try {
            for (int i = 0; i < adapters.size(); i++) {
                ScanAdapter adapter = (ScanAdapter) adapters.get(i);
                String root = adapter.root(relation);
                if (root != null) {
                    CatalogEntries table = root.length() == 0 ? null : tables.lookup(root);
                    record.table = table;
                    record.anyCopy = anyCopy && !FilePaths.inOutput(scan);
                    record.partners = partners;
                    return table == null ? scan : ask(adapter, scan, condition, record);
                }
            }
        } catch (VirtualMachineError fatal) {
            throw fatal;
        } catch (Throwable failure) {
            if (failure instanceof InterruptedException) {
                Thread.currentThread().interrupt();
            }
            record.failure = String.valueOf(failure.getMessage());
            record.countAll(relation.location());
            remember(record);
            LOG.warn("skipstone reads all of " + record.root + ": " + record.failure);
        }
        return scan;
    }

    /** The same as a trial, of which no report speaks. */
    LogicalRelation pruneUnreported(LogicalRelation scan, Expression condition, String partners) {
        Object reported = report.get();
        report.remove();
        try {
            return prune(scan, condition, true, partners);
        } finally {
            if (reported != null) {
                report.set(reported);
            }
        }
    }

    private LogicalRelation ask(
            ScanAdapter adapter, LogicalRelation scan, Expression condition, DecidedScan record)
            throws Exception {
        CatalogEntries table = record.table;
        HadoopFsRelation relation = (HadoopFsRelation) scan.relation();
        CopyState copies = record.anyCopy ? adapter.copies(relation, table) : null;
        if (condition == null) {
            // A scan without a filter reads everything: the base, unless some of it is not there.
            if (record.partners == null && (copies == null || copies.baseMissing.isEmpty())) {
                return scan;
            }
            condition = Literal$.MODULE$.TrueLiteral();
        }
        record.root = table.root;
        record.version = table.version;
        record.relation = scan;
        record.condition = condition;
        List conjuncts = new ArrayList();
        ScanQuestion.split(condition, conjuncts);
        ScanAnswer answer = answer(adapter, record, conjuncts, copies);
        while (!answer.parts.isEmpty()) {
            BitSet lost = table.replicas.resized(answer.parts, answer.skipOfReplicas);
            if (lost.isEmpty()) {
                break;
            }
            copies = copies.without(lost);
            answer = answer(adapter, record, conjuncts, copies);
        }
        FileIndex index = adapter.prune(relation, table, answer, record);
        remember(record);
        return index == relation.location() ? scan : Relations.reading(scan, index);
    }

    private ScanAnswer answer(
            ScanAdapter adapter, DecidedScan record, List conjuncts, CopyState copies)
            throws Exception {
        HadoopFsRelation relation = (HadoopFsRelation) record.relation.relation();
        record.copies = copies;
        record.question =
                ScanQuestion.json(
                        record.table,
                        relation,
                        conjuncts,
                        adapter.schema(relation, record.table),
                        copies,
                        record.partners);
        Object answer = decider.apply(record.question);
        if (!(answer instanceof byte[])) {
            throw new IllegalStateException(String.valueOf(answer));
        }
        return new ScanAnswer((byte[]) answer);
    }

    /** By scan of a plan, what its joins ask of it, as JSON. */
    IdentityHashMap partners(LogicalPlan plan) {
        return PartnersOfScans.of(plan, tables, adapters);
    }

    private void remember(DecidedScan record) {
        List scans = (List) report.get();
        if (scans == null) {
            return;
        }
        // Spark runs the rule until a plan stays as it is; what was decided last counts.
        for (int i = 0; i < scans.size(); i++) {
            DecidedScan before = (DecidedScan) scans.get(i);
            if (before.relation != null && before.relation == record.relation) {
                record.joins.addAll(before.joins);
                scans.set(i, record);
                return;
            }
        }
        scans.add(record);
    }

    /** Adds what was decided about a join to the report on a scan, if there is one to make. */
    void addJoin(LogicalRelation scan, JoinNote note) {
        List scans = (List) report.get();
        if (scans == null) {
            return;
        }
        if (reported(scans, scan) == null) {
            // A scan without a filter of its own; what it reads at planning is everything.
            prune(scan, Literal$.MODULE$.TrueLiteral(), false, null);
        }
        DecidedScan record = reported(scans, scan);
        // Spark runs the rule until a plan stays as it is.
        String text = note.json();
        if (record != null && !record.joins.contains(text)) {
            record.joins.add(text);
        }
    }

    /** The report that is being made on a scan; null if there is none to make. */
    DecidedScan reported(LogicalRelation scan) {
        List scans = (List) report.get();
        return scans == null ? null : reported(scans, scan);
    }

    /** The report on a scan, which may have other files now but has the same columns. */
    private static DecidedScan reported(List scans, LogicalRelation scan) {
        for (int i = 0; i < scans.size(); i++) {
            DecidedScan record = (DecidedScan) scans.get(i);
            if (record.relation != null && record.relation.output().equals(scan.output())) {
                return record;
            }
        }
        return null;
    }
}
