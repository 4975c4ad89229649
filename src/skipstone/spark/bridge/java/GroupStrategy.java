package skipstone;

import org.apache.spark.sql.catalyst.plans.logical.Filter;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.Project;
import org.apache.spark.sql.classic.SparkSession;
import org.apache.spark.sql.execution.FileSourceScanExec;
import org.apache.spark.sql.execution.SparkPlan;
import org.apache.spark.sql.execution.SparkStrategy;
import org.apache.spark.sql.execution.UnionExec;
import org.apache.spark.sql.execution.datasources.FileIndex;
import org.apache.spark.sql.execution.datasources.HadoopFsRelation;
import org.apache.spark.sql.execution.datasources.LogicalRelation;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import scala.Option;
import scala.collection.Iterator;
import scala.collection.immutable.Seq;
import scala.collection.mutable.ListBuffer;

import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;

/**
 * Plans scans of Delta tables of which some rows are read from column groups. The columns that a
 * scan has to give are known here. Spark's or Delta's own strategy plans the same operators twice:
 * over the files that are left, and over no files, where the scan is then replaced by the groups.
 * The rows of both come one after the other.
 *
 * <p>Whatever goes wrong, the scan is planned as if there were no groups.
 */
public final class GroupStrategy extends SparkStrategy {
    private static final Logger LOG = LoggerFactory.getLogger("skipstone");

    private final Skipstone shim;
    private final GroupAsker asker;

    GroupStrategy(Skipstone shim, GroupAsker asker) {
        this.shim = shim;
        this.asker = asker;
    }

    public Seq apply(LogicalPlan plan) {
        LogicalRelation scan = DynamicStrategy.scanOf(plan);
        FileIndex location = scan == null ? null : ((HadoopFsRelation) scan.relation()).location();
        if (!(location instanceof GroupedIndex)
                || ((GroupedIndex) location).offer() == null
                || !shim.wanted()) {
            return ScalaSeq.empty();
        }
        try {
            SparkPlan made = planned(plan, scan, (GroupedIndex) location);
            return made == null ? ScalaSeq.empty() : ScalaSeq.of(made);
        } catch (VirtualMachineError fatal) {
            throw fatal;
        } catch (Throwable failure) {
            if (failure instanceof InterruptedException) {
                Thread.currentThread().interrupt();
            }
            LOG.warn("skipstone reads no column groups: " + failure, failure);
            return ScalaSeq.empty();
        }
    }

    private SparkPlan planned(LogicalPlan plan, LogicalRelation scan, GroupedIndex index)
            throws Exception {
        SparkSession session = active(scan);
        SparkPlan none = byOthers(session, reading(plan, index.withoutFiles()));
        FileSourceScanExec empty = onlyScan(none);
        if (empty == null || empty.output().isEmpty() || FilePaths.inOutput(scan)) {
            return null;
        }
        GroupPlan groups = new GroupPlan(session, index.root(), empty, none);
        if (!groups.hasColumnsOf(scan)) {
            return null;
        }
        GroupAsker.GroupAnswer answer = asker.ask(index.offer(), groups.columns(), session);
        if (answer == null) {
            return null;
        }
        BitSet lost = index.offer().table.replicas.resized(answer.chosen, new BitSet());
        if (!lost.isEmpty()) {
            LOG.warn("skipstone reads no column groups: files of " + index.root() + " are damaged");
            return null;
        }
        DecidedScan record = asker.pruner.reported(scan);
        if (record != null) {
            record.groups = answer.text;
        }
        if (answer.chosen.isEmpty()) {
            return null;
        }
        List plans = new ArrayList();
        FileIndex rest = index.without(answer);
        if (record != null) {
            index.count(rest, answer, record);
        }
        if (rest != null) {
            plans.add(byOthers(session, reading(plan, rest)));
        }
        SparkPlan read = groups.plan(answer.reads, index, rest == null);
        if (record != null) {
            record.groupJoins = groups.joins();
        }
        if (read != null || plans.isEmpty()) {
            plans.add(read == null ? none : new PartitionedScan.Replace(empty, read).apply(none));
        }
        if (plans.size() == 1) {
            return (SparkPlan) plans.get(0);
        }
        ListBuffer all = new ListBuffer();
        for (int i = 0; i < plans.size(); i++) {
            all.addOne(plans.get(i));
        }
        return new UnionExec(all.toList());
    }

    private static SparkSession active(LogicalRelation scan) {
        Option active = org.apache.spark.sql.SparkSession.getActiveSession();
        return (SparkSession)
                (active.isEmpty()
                        ? ((HadoopFsRelation) scan.relation()).sparkSession()
                        : active.get());
    }

    /** The plan with the scan of another index. */
    private static LogicalPlan reading(LogicalPlan plan, FileIndex index) {
        if (plan instanceof Project) {
            Project project = (Project) plan;
            return new Project(project.projectList(), reading(project.child(), index));
        }
        if (plan instanceof Filter) {
            Filter filter = (Filter) plan;
            return new Filter(filter.condition(), reading(filter.child(), index));
        }
        return Relations.reading((LogicalRelation) plan, index);
    }

    private static SparkPlan byOthers(SparkSession session, LogicalPlan plan) {
        Iterator others = session.sessionState().planner().strategies().iterator();
        while (others.hasNext()) {
            Object other = others.next();
            if (!(other instanceof GroupStrategy)) {
                Seq found = (Seq) ((SparkStrategy) other).apply(plan);
                if (found.nonEmpty()) {
                    return (SparkPlan) found.head();
                }
            }
        }
        throw new IllegalStateException("no strategy plans " + plan);
    }

    /** The scan of a plan without branches; null if it has another leaf. */
    private static FileSourceScanExec onlyScan(SparkPlan plan) {
        if (plan instanceof FileSourceScanExec) {
            return (FileSourceScanExec) plan;
        }
        if (plan.children().size() != 1) {
            return null;
        }
        Object child = plan.children().head();
        return onlyScan((SparkPlan) child);
    }
}
