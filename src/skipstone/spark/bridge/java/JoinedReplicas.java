package skipstone;

import com.fasterxml.jackson.databind.ObjectMapper;

import org.apache.spark.sql.catalyst.expressions.AttributeReference;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.PlanExpression;
import org.apache.spark.sql.catalyst.expressions.SubqueryExpression;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.trees.TreePattern;
import org.apache.spark.sql.classic.SparkSession;
import org.apache.spark.sql.execution.datasources.HadoopFsRelation;
import org.apache.spark.sql.execution.datasources.LogicalRelation;
import org.apache.spark.sql.internal.SQLConf;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import scala.collection.Iterator;
import scala.runtime.AbstractFunction1;

import java.util.ArrayList;
import java.util.IdentityHashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;

/**
 * Answers inner joins from joined replicas: asks Python whether a replica holds the rows of the
 * joins of a plan, and puts a scan of it in their place, which is then pruned as any other.
 *
 * <p>The law: whatever goes wrong here or in Python, the plan is left as it was.
 */
final class JoinedReplicas {
    /** When they are read: "auto" by what that costs, "always" where they match, or "never". */
    private static final String SWITCH = "spark.skipstone.joined";

    private static final Logger LOG = LoggerFactory.getLogger("skipstone");
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final scala.Enumeration.Value SUBQUERY = TreePattern.PLAN_EXPRESSION();

    private final TableRegistry tables;
    private final List adapters;
    private final ScanPruner pruner;
    private final JoinedCost cost;
    private volatile Function chooser;

    JoinedReplicas(TableRegistry tables, List adapters, ScanPruner pruner) {
        this.tables = tables;
        this.adapters = adapters;
        this.pruner = pruner;
        this.cost = new JoinedCost(pruner);
    }

    /**
     * @param function takes a question about the joins of some tables as JSON, answers with the
     *     replica to read in their place, or with a code and a sentence that say why none
     */
    void connect(Function function) {
        this.chooser = function;
    }

    private static String wanted() {
        return SQLConf.get().getConfString(SWITCH, "auto");
    }

    /** The plan with scans of joined replicas in place of joins that they answer. */
    LogicalPlan rewrite(LogicalPlan plan) {
        if (plan.isStreaming() || wanted().equalsIgnoreCase("never") || FilePaths.inPlan(plan)) {
            return plan;
        }
        try {
            Look look = new Look(this);
            LogicalPlan done = (LogicalPlan) look.apply(plan);
            look.report();
            return done;
        } catch (VirtualMachineError fatal) {
            throw fatal;
        } catch (Throwable failure) {
            if (failure instanceof InterruptedException) {
                Thread.currentThread().interrupt();
            }
            LOG.warn("skipstone reads no joined replica: " + failure.getMessage());
            return plan;
        }
    }

    /** One look at a whole plan. */
    static final class Look extends AbstractFunction1 {
        private final JoinedReplicas joined;

        /** By scan of a table with joined replicas, why none is read. */
        private final IdentityHashMap refused = new IdentityHashMap();

        Look(JoinedReplicas joined) {
            this.joined = joined;
        }

        public Object apply(Object node) {
            LogicalPlan plan = (LogicalPlan) node;
            if (plan.containsPattern(TreePattern.JOIN())) {
                LogicalPlan found = joined.answered(plan, refused);
                plan = found == null ? plan : found;
            } else if (!plan.containsPattern(SUBQUERY)) {
                return plan;
            }
            Object mapped = plan.mapChildren(this);
            plan = (LogicalPlan) mapped;
            return plan.containsPattern(SUBQUERY) ? plan.mapExpressions(new Inside(this)) : plan;
        }

        /** Says of each scan that no replica was read for why that is so. */
        void report() {
            java.util.Iterator each = refused.entrySet().iterator();
            while (each.hasNext()) {
                Map.Entry entry = (Map.Entry) each.next();
                joined.pruner.addJoin(
                        (LogicalRelation) entry.getKey(), (JoinNote) entry.getValue());
            }
        }
    }

    /** Looks at the plans of subqueries, unless they depend on the query around them. */
    static final class Inside extends AbstractFunction1 {
        private final Look look;

        Inside(Look look) {
            this.look = look;
        }

        public Object apply(Object found) {
            Expression expression = (Expression) found;
            if (!(expression instanceof PlanExpression)) {
                return expression.containsPattern(SUBQUERY)
                        ? expression.mapChildren(this)
                        : expression;
            }
            PlanExpression subquery = (PlanExpression) expression;
            boolean alone =
                    subquery instanceof SubqueryExpression
                            && ((SubqueryExpression) subquery).getOuterAttrs().isEmpty();
            if (!alone || !(subquery.plan() instanceof LogicalPlan)) {
                return subquery;
            }
            Object before = subquery.plan();
            Object after = look.apply(before);
            return after == before ? subquery : subquery.withNewPlan((LogicalPlan) after);
        }
    }

    /** The plan over a replica; null if there is none that answers it. */
    private LogicalPlan answered(LogicalPlan plan, IdentityHashMap refused) {
        List centers = centers(plan);
        if (centers.isEmpty()) {
            return null;
        }
        InnerJoins joins = InnerJoins.of(plan);
        for (int i = 0; i < centers.size(); i++) {
            LogicalRelation center = (LogicalRelation) centers.get(i);
            JoinNote note = new JoinNote(joins, center);
            try {
                LogicalPlan found = answered(plan, joins, center, note);
                if (found != null) {
                    for (int k = 0; k < centers.size(); k++) {
                        refused.remove(centers.get(k));
                    }
                    return found;
                }
            } catch (Exception failure) {
                LOG.warn("skipstone reads no joined replica: " + failure.getMessage());
                note.decide("FAILED", String.valueOf(failure.getMessage()));
            }
            // The smallest plan that joins it says best why.
            if (!note.isOpen()) {
                refused.put(center, note);
            }
        }
        return null;
    }

    private LogicalPlan answered(
            LogicalPlan plan, InnerJoins joins, LogicalRelation center, JoinNote note)
            throws Exception {
        if (joins.problem != null) {
            note.decide(joins.problem[0], joins.problem[1]);
            return null;
        }
        if (joins.leaves.size() < 2) {
            return null;
        }
        List needed = new ArrayList();
        List reads = new ArrayList();
        for (int i = 0; i < joins.leaves.size(); i++) {
            List columns = new ArrayList(joins.needed(i, plan));
            needed.add(columns);
            reads.add(described(joins.leaf(i), columns));
        }
        Map question = new LinkedHashMap();
        question.put("root", root(center));
        question.put("reads", reads);
        question.put("equal", equalities(joins));
        question.put("settings", JSON.readValue(ReaderSettings.json(SQLConf.get()), Map.class));
        Object asked = chooser.apply(JSON.writeValueAsString(question));
        Object read = JSON.readValue((String) asked, Map.class);
        Map answer = (Map) read;
        note.decide((String) answer.get("code"), (String) answer.get("sentence"));
        if (answer.get("root") == null) {
            return null;
        }
        SparkSession session = (SparkSession) ((HadoopFsRelation) center.relation()).sparkSession();
        LogicalRelation copy =
                adapterOf(center)
                        .open(session, (String) answer.get("root"), (String) answer.get("state"));
        LogicalPlan found = copy == null ? null : JoinedScan.of(plan, joins, needed, copy, answer);
        if (found == null) {
            note.decide("DAMAGED", "files of the replica are missing, or it was written to");
        } else if (!wanted().equalsIgnoreCase("always")
                && cost.isHigher(plan, joins, needed, found)) {
            note.decide("COST", "the replica would read more than twice as much as the tables");
            return null;
        } else {
            pruner.addJoin(copy, note);
        }
        return found;
    }

    /** The scans of tables with joined replicas. */
    private List centers(LogicalPlan plan) {
        List out = new ArrayList();
        Iterator leaves = plan.collectLeaves().iterator();
        while (leaves.hasNext()) {
            Object leaf = leaves.next();
            String root = root(leaf);
            CatalogEntries table = root == null ? null : tables.lookup(root);
            if (table != null
                    && table.joined
                    && table.root.equals(root)
                    && !adapterOf(leaf).isWriting()) {
                out.add(leaf);
            }
        }
        return out;
    }

    /** A table, the state that is read of it, and its columns that are needed. */
    private Map described(LogicalRelation leaf, List columns) throws Exception {
        Map out = new LinkedHashMap();
        String root = root(leaf);
        String state = null;
        if (root != null && !FilePaths.inOutput(leaf)) {
            ReaderSettings.check((HadoopFsRelation) leaf.relation());
            state = adapterOf(leaf).state((HadoopFsRelation) leaf.relation());
        }
        List names = new ArrayList();
        for (int i = 0; i < columns.size(); i++) {
            names.add(((AttributeReference) columns.get(i)).name());
        }
        out.put("root", root == null ? "" : root);
        out.put("state", state == null ? "" : state);
        out.put("columns", names);
        return out;
    }

    private static List equalities(InnerJoins joins) {
        List out = new ArrayList();
        List pairs = joins.equalities();
        for (int i = 0; i < pairs.size(); i++) {
            Expression[] pair = (Expression[]) pairs.get(i);
            List both = new ArrayList();
            for (int k = 0; k < 2; k++) {
                both.add(Integer.valueOf(joins.leafOf(pair[k])));
                both.add(joins.nameOf((AttributeReference) pair[k]));
            }
            out.add(both);
        }
        return out;
    }

    /** The root of the table that a leaf reads; null if it is not known or not to be replaced. */
    private String root(Object leaf) {
        ScanAdapter adapter = adapterOf(leaf);
        return adapter == null
                ? null
                : adapter.root((HadoopFsRelation) ((LogicalRelation) leaf).relation());
    }

    private ScanAdapter adapterOf(Object leaf) {
        return leaf instanceof LogicalRelation
                ? PartnersOfScans.adapterOf((LogicalRelation) leaf, adapters)
                : null;
    }
}
