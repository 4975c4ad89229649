package skipstone;

import org.apache.spark.rdd.RDD;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.catalog.CatalogTable;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.PlanExpression;
import org.apache.spark.sql.catalyst.planning.PhysicalOperation$;
import org.apache.spark.sql.catalyst.plans.Inner$;
import org.apache.spark.sql.catalyst.plans.logical.CreateTableAsSelect;
import org.apache.spark.sql.catalyst.plans.logical.CreateView;
import org.apache.spark.sql.catalyst.plans.logical.DeleteFromTable;
import org.apache.spark.sql.catalyst.plans.logical.Filter;
import org.apache.spark.sql.catalyst.plans.logical.InsertIntoStatement;
import org.apache.spark.sql.catalyst.plans.logical.Join;
import org.apache.spark.sql.catalyst.plans.logical.JoinHint$;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.MergeIntoTable;
import org.apache.spark.sql.catalyst.plans.logical.ReplaceTableAsSelect;
import org.apache.spark.sql.catalyst.plans.logical.UnresolvedWith;
import org.apache.spark.sql.catalyst.plans.logical.UpdateTable;
import org.apache.spark.sql.classic.Dataset;
import org.apache.spark.sql.classic.SparkSession;
import org.apache.spark.sql.execution.CommandExecutionMode;
import org.apache.spark.sql.execution.QueryExecution;
import org.apache.spark.sql.execution.command.CreateViewCommand;
import org.apache.spark.sql.execution.command.ExplainCommand;
import org.apache.spark.sql.execution.datasources.HadoopFsRelation;
import org.apache.spark.sql.execution.datasources.LogicalRelation;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.StructType;

import scala.Option;
import scala.collection.Iterator;
import scala.collection.immutable.Seq;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * SQL text to the scans it makes: parsed, analysed and optimised by Catalyst in a copy of the
 * user's session, in which each table of interest is an empty relation of the right schema. Nothing
 * is run. One call per statement, since each call from Python costs a round trip.
 */
public final class QueryScans {
    /**
     * Attribute metadata that identifies the table; it survives whatever the optimizer does to a
     * relation.
     */
    public static final String MARK = "skipstone.table";

    private final SparkSession session;

    public QueryScans(SparkSession user) {
        this.session = user.cloneSession();
        // What queries ask of tables, not of copies of them.
        this.session.conf().set(Skipstone.SWITCH, "false");
        this.session
                .experimental()
                .extraOptimizations_$eq((Seq) scala.collection.immutable.Nil$.MODULE$);
    }

    /**
     * Makes a table known under a name, empty: an RDD, as the optimizer folds empty local data
     * away.
     */
    public void addTable(String name, String schema) {
        RDD none =
                session.sparkContext()
                        .emptyRDD(scala.reflect.ClassTag$.MODULE$.apply(InternalRow.class));
        session.internalCreateDataFrame(none, (StructType) DataType.fromJson(schema), false)
                .createOrReplaceTempView(name);
    }

    /** Gives a query a name; returns null, or the class of what the text is if it is no query. */
    public String addView(String name, String query) throws Exception {
        Object frame = new QueryText().frame(session, query);
        if (frame instanceof String) {
            return (String) frame;
        }
        ((Dataset) frame).createOrReplaceTempView(name);
        return null;
    }

    /** Whether a temporary view has this name, and nothing else has the qualified one. */
    public boolean isViewAlone(String name, String qualified) {
        if (session.sessionState().catalog().getTempView(name).isEmpty()) {
            return false;
        }
        try {
            return !session.catalog().tableExists(qualified);
        } catch (Exception unknown) {
            return true;
        }
    }

    /**
     * {"scans": [...]}; or {"qualified": [[part, ...], ...]} when relations have names of several
     * parts and these are to be looked at first; or {"other": class} for a statement in which no
     * query is found; or {"error": sentence}. Analysis alone runs some commands, so only queries
     * are analysed.
     */
    public String scans(String sql, boolean namesFirst) throws Exception {
        return understood(sql, namesFirst, false);
    }

    /** The same with {"tables": [...], "trees": [...]} as {@link JoinTrees} has them. */
    public String joins(String sql, boolean namesFirst) throws Exception {
        return understood(sql, namesFirst, true);
    }

    private String understood(String sql, boolean namesFirst, boolean joins) throws Exception {
        Option active = SparkSession.getActiveSession();
        SparkSession.setActiveSession(session);
        Map out = new LinkedHashMap();
        try {
            LogicalPlan plan = reading(session.sessionState().sqlParser().parsePlan(sql));
            String other = QueryText.otherThanQuery(plan);
            List qualified = new ArrayList();
            QueryText.names(plan, qualified);
            if (other != null) {
                out.put("other", other);
            } else if (namesFirst && !qualified.isEmpty()) {
                out.put("qualified", qualified);
            } else {
                look(
                        session.sessionState().executePlan(plan, CommandExecutionMode.SKIP()),
                        joins,
                        out);
            }
        } catch (VirtualMachineError fatal) {
            throw fatal;
        } catch (Throwable failure) {
            out.put(
                    "error",
                    failure.getMessage() == null ? failure.toString() : failure.getMessage());
        } finally {
            if (active.isDefined()) {
                SparkSession.setActiveSession((SparkSession) active.get());
            } else {
                SparkSession.clearActiveSession();
            }
        }
        return CatalystJson.text(out);
    }

    private static void look(QueryExecution execution, boolean joins, Map out) throws Exception {
        String other = QueryText.command(execution.analyzed());
        if (other != null) {
            out.put("other", other);
            return;
        }
        if (joins) {
            out.putAll(JoinTrees.of(execution.optimizedPlan()));
            return;
        }
        List scans = new ArrayList();
        walkAll(execution.optimizedPlan(), scans);
        out.put("scans", scans);
    }

    /**
     * The part of a statement that reads: the query of an INSERT, the rows that a DELETE looks for.
     */
    private static LogicalPlan reading(LogicalPlan plan) {
        if (plan instanceof UnresolvedWith) {
            UnresolvedWith with = (UnresolvedWith) plan;
            return new UnresolvedWith(
                    reading(with.child()), with.cteRelations(), with.allowRecursion());
        }
        if (plan instanceof InsertIntoStatement) {
            return ((InsertIntoStatement) plan).query();
        }
        if (plan instanceof CreateTableAsSelect) {
            return ((CreateTableAsSelect) plan).query();
        }
        if (plan instanceof ReplaceTableAsSelect) {
            return ((ReplaceTableAsSelect) plan).query();
        }
        if (plan instanceof CreateView) {
            return ((CreateView) plan).query();
        }
        if (plan instanceof CreateViewCommand) {
            return ((CreateViewCommand) plan).plan();
        }
        if (plan instanceof ExplainCommand) {
            return reading(((ExplainCommand) plan).logicalPlan());
        }
        if (plan instanceof DeleteFromTable) {
            return new Filter(
                    ((DeleteFromTable) plan).condition(), ((DeleteFromTable) plan).table());
        }
        if (plan instanceof UpdateTable) {
            UpdateTable update = (UpdateTable) plan;
            Option condition = update.condition();
            return condition.isEmpty()
                    ? update.table()
                    : new Filter((Expression) condition.get(), update.table());
        }
        if (plan instanceof MergeIntoTable) {
            MergeIntoTable merge = (MergeIntoTable) plan;
            if (merge.notMatchedBySourceActions().nonEmpty()) {
                throw new UnsupportedOperationException(
                        "MERGE with WHEN NOT MATCHED BY SOURCE reads the whole table");
            }
            return new Join(
                    merge.targetTable(),
                    merge.sourceTable(),
                    Inner$.MODULE$,
                    Option.apply(merge.mergeCondition()),
                    JoinHint$.MODULE$.NONE());
        }
        return plan;
    }

    /** The scans of a plan, with what its joins ask of each. */
    private static void walkAll(LogicalPlan plan, List out) throws Exception {
        walk(plan, out, PartnerFinder.find(plan, new Joined()));
    }

    /** Tables of interest by their marks, others by their paths. */
    static final class Joined implements PartnerSource {
        public Map table(LogicalPlan leaf) {
            Map known = source(leaf);
            Object paths = known == null ? null : known.get("paths");
            if (known == null || paths != null && ((List) paths).size() != 1) {
                return null;
            }
            Map out = new LinkedHashMap();
            out.put("table", paths == null ? known.get("table") : ((List) paths).get(0));
            return out;
        }
    }

    private static void walk(LogicalPlan plan, List out, Map partners) throws Exception {
        scala.Tuple3 operation = (scala.Tuple3) PhysicalOperation$.MODULE$.unapply(plan).get();
        LogicalPlan leaf = (LogicalPlan) operation._3();
        if (leaf.children().isEmpty()) {
            Map scan = source(leaf);
            if (scan != null) {
                describe(scan, leaf, (Seq) operation._1(), (Seq) operation._2());
                Object asked = partners.get(leaf);
                scan.put("partners", asked == null ? new ArrayList() : asked);
                out.add(scan);
            }
            subqueries((Seq) operation._1(), out);
            subqueries((Seq) operation._2(), out);
            return;
        }
        subqueries(plan.expressions(), out);
        Iterator children = plan.children().iterator();
        while (children.hasNext()) {
            walk((LogicalPlan) children.next(), out, partners);
        }
    }

    private static void subqueries(scala.collection.Seq expressions, List out) throws Exception {
        Iterator each = expressions.iterator();
        while (each.hasNext()) {
            Expression expression = (Expression) each.next();
            if (expression instanceof PlanExpression
                    && ((PlanExpression) expression).plan() instanceof LogicalPlan) {
                walkAll((LogicalPlan) ((PlanExpression) expression).plan(), out);
            }
            subqueries(expression.children(), out);
        }
    }

    /**
     * Which table a leaf of the plan is, by mark, catalog name and paths; null when it is no table.
     */
    private static Map source(LogicalPlan leaf) {
        Map out = new LinkedHashMap();
        Seq columns = leaf.output();
        if (columns.nonEmpty()) {
            Attribute first = (Attribute) columns.head();
            if (first.metadata().contains(MARK)) {
                out.put("table", first.metadata().getString(MARK));
                return out;
            }
        }
        if (!(leaf instanceof LogicalRelation)) {
            return null;
        }
        LogicalRelation relation = (LogicalRelation) leaf;
        Option known = relation.catalogTable();
        if (known.isDefined()) {
            out.put("name", ((CatalogTable) known.get()).identifier().unquotedString());
        }
        List paths = new ArrayList();
        if (relation.relation() instanceof HadoopFsRelation) {
            Iterator roots =
                    ((HadoopFsRelation) relation.relation()).location().rootPaths().iterator();
            while (roots.hasNext()) {
                paths.add(roots.next().toString());
            }
        }
        out.put("paths", paths);
        return out;
    }

    private static void describe(Map scan, LogicalPlan leaf, Seq projects, Seq filters) {
        List conjuncts = new ArrayList();
        Iterator each = filters.iterator();
        while (each.hasNext()) {
            conjuncts.add(CatalystJson.tree((Expression) each.next()));
        }
        scan.put("filters", conjuncts);
        List columns = new ArrayList();
        Iterator output = leaf.output().iterator();
        while (output.hasNext()) {
            Attribute column = (Attribute) output.next();
            if (reads(projects, column) || reads(filters, column)) {
                columns.add(column.name());
            }
        }
        scan.put("columns", columns);
    }

    private static boolean reads(Seq expressions, Attribute column) {
        Iterator each = expressions.iterator();
        while (each.hasNext()) {
            if (((Expression) each.next()).references().contains(column)) {
                return true;
            }
        }
        return false;
    }
}
