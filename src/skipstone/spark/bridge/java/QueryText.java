package skipstone;

import org.apache.spark.sql.catalyst.analysis.UnresolvedRelation;
import org.apache.spark.sql.catalyst.plans.logical.Command;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.trees.TreeNode;
import org.apache.spark.sql.classic.Dataset;
import org.apache.spark.sql.classic.SparkSession;
import org.apache.spark.sql.execution.CommandExecutionMode;
import org.apache.spark.sql.execution.datasources.HadoopFsRelation;
import org.apache.spark.sql.execution.datasources.LogicalRelation;
import org.apache.spark.sql.execution.datasources.v2.DataSourceV2Relation;

import scala.Option;
import scala.Product;
import scala.collection.Iterator;
import scala.collection.immutable.Seq;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * Text from a user or a file to a frame, if it is a query and nothing else.
 *
 * <p>SparkSession.sql runs a command while it makes its frame, and analysis alone runs EXECUTE
 * IMMEDIATE and CALL. So the parsed plan is judged before anything else is done with it: every node
 * in it must be one that queries are made of. What an IDENTIFIER clause stands for is known only
 * after analysis; so the analysed plan, in which commands have not been run, is looked through too,
 * and the frame is made of that very plan.
 */
public final class QueryText {
    /**
     * What the parser makes of queries. Whatever is not here is not run: a new kind of command, or
     * one that an extension brings along. TRANSFORM is not here, since it starts a program.
     */
    private static final Set QUERIES =
            new HashSet(
                    Arrays.asList(
                            new Object[] {
                                "analysis.NamedStreamingRelation",
                                "analysis.PlanWithUnresolvedIdentifier",
                                "analysis.RelationChanges",
                                "analysis.RelationTimeTravel",
                                "analysis.ResolvedInlineTable",
                                "analysis.UnresolvedEventTimeWatermark",
                                "analysis.UnresolvedHaving",
                                "analysis.UnresolvedInlineTable",
                                "analysis.UnresolvedQualify",
                                "analysis.UnresolvedRelation",
                                "analysis.UnresolvedSubqueryColumnAliases",
                                "analysis.UnresolvedTVFAliases",
                                "analysis.UnresolvedTableValuedFunction",
                                "expressions.PipeOperator",
                                "plans.logical.Aggregate",
                                "plans.logical.AsOfJoin",
                                "plans.logical.Deduplicate",
                                "plans.logical.Distinct",
                                "plans.logical.Except",
                                "plans.logical.Filter",
                                "plans.logical.Generate",
                                "plans.logical.GlobalLimit",
                                "plans.logical.Intersect",
                                "plans.logical.Join",
                                "plans.logical.LateralJoin",
                                "plans.logical.LimitAll",
                                "plans.logical.LocalLimit",
                                "plans.logical.LocalRelation",
                                "plans.logical.NearestByJoin",
                                "plans.logical.Offset",
                                "plans.logical.OneRowRelation",
                                "plans.logical.Pivot",
                                "plans.logical.Project",
                                "plans.logical.Range",
                                "plans.logical.RebalancePartitions",
                                "plans.logical.Repartition",
                                "plans.logical.RepartitionByExpression",
                                "plans.logical.Sample",
                                "plans.logical.Sort",
                                "plans.logical.Subquery",
                                "plans.logical.SubqueryAlias",
                                "plans.logical.Union",
                                "plans.logical.Unpivot",
                                "plans.logical.UnresolvedHint",
                                "plans.logical.UnresolvedWith",
                                "plans.logical.Window",
                                "plans.logical.WithWindowDefinition"
                            }));

    private static final String CATALYST = "org.apache.spark.sql.catalyst.";

    /** The frame of a query; of any other statement the class of what it is, as text. */
    public Object frame(SparkSession session, String sql) throws Exception {
        Option active = SparkSession.getActiveSession();
        SparkSession.setActiveSession(session);
        try {
            LogicalPlan parsed = session.sessionState().sqlParser().parsePlan(sql);
            String other = otherThanQuery(parsed);
            if (other != null) {
                return other;
            }
            LogicalPlan analyzed =
                    session.sessionState()
                            .executePlan(parsed, CommandExecutionMode.SKIP())
                            .analyzed();
            other = command(analyzed);
            return other != null ? (Object) other : Dataset.ofRows(session, analyzed);
        } finally {
            if (active.isDefined()) {
                SparkSession.setActiveSession((SparkSession) active.get());
            } else {
                SparkSession.clearActiveSession();
            }
        }
    }

    /**
     * The class of the first node of a parsed plan that no query has, in subqueries and WITH too;
     * or null.
     */
    public static String otherThanQuery(Object value) {
        if (value instanceof LogicalPlan) {
            String name = value.getClass().getName();
            if (!name.startsWith(CATALYST)
                    || !QUERIES.contains(name.substring(CATALYST.length()))) {
                return value.getClass().getSimpleName();
            }
        }
        Iterator parts = null;
        if (value instanceof TreeNode
                || value instanceof Option
                || value instanceof scala.Tuple2
                || value instanceof scala.Tuple3) {
            parts = ((Product) value).productIterator();
        } else if (value instanceof scala.collection.Iterable) {
            parts = ((scala.collection.Iterable) value).iterator();
        }
        while (parts != null && parts.hasNext()) {
            String found = otherThanQuery(parts.next());
            if (found != null) {
                return found;
            }
        }
        return null;
    }

    /**
     * The names of several parts by which a statement calls relations, each a list of its parts.
     */
    public List relations(SparkSession session, String sql) throws Exception {
        List out = new ArrayList();
        names(session.sessionState().sqlParser().parsePlan(sql), out);
        return out;
    }

    /**
     * Relation names of several parts anywhere in a parsed plan, common table expressions included.
     */
    public static void names(Object value, List out) {
        if (value instanceof UnresolvedRelation) {
            Seq parts = ((UnresolvedRelation) value).multipartIdentifier();
            if (parts.size() > 1) {
                List name = new ArrayList();
                Iterator each = parts.iterator();
                while (each.hasNext()) {
                    name.add(each.next());
                }
                out.add(name);
            }
        } else if (value instanceof TreeNode
                || value instanceof Option
                || value instanceof scala.Tuple3
                || value instanceof scala.Tuple2) {
            Iterator fields = ((Product) value).productIterator();
            while (fields.hasNext()) {
                names(fields.next(), out);
            }
        } else if (value instanceof scala.collection.Seq) {
            Iterator items = ((scala.collection.Seq) value).iterator();
            while (items.hasNext()) {
                names(items.next(), out);
            }
        }
    }

    /** The class of a command anywhere in an analysed plan; null if it has none. */
    public static String command(LogicalPlan plan) {
        if (plan instanceof Command) {
            return plan.getClass().getSimpleName();
        }
        List below = below(plan);
        for (int i = 0; i < below.size(); i++) {
            String found = command((LogicalPlan) below.get(i));
            if (found != null) {
                return found;
            }
        }
        return null;
    }

    private static List below(LogicalPlan plan) {
        List out = new ArrayList();
        Iterator children = plan.children().iterator();
        while (children.hasNext()) {
            out.add(children.next());
        }
        Iterator subqueries = plan.subqueries().iterator();
        while (subqueries.hasNext()) {
            out.add(subqueries.next());
        }
        return out;
    }

    /** Whether a query reads files below a path, or a source whose files are not known here. */
    public boolean reads(Dataset frame, String root) {
        return reads(frame.queryExecution().analyzed(), root);
    }

    private static boolean reads(LogicalPlan plan, String root) {
        if (plan instanceof DataSourceV2Relation) {
            return true;
        }
        if (plan instanceof LogicalRelation) {
            LogicalRelation relation = (LogicalRelation) plan;
            if (!(relation.relation() instanceof HadoopFsRelation)) {
                return false;
            }
            Iterator paths =
                    ((HadoopFsRelation) relation.relation()).location().rootPaths().iterator();
            while (paths.hasNext()) {
                String path = paths.next().toString();
                if (path.equals(root) || path.startsWith(root + "/")) {
                    return true;
                }
            }
            return false;
        }
        List below = below(plan);
        for (int i = 0; i < below.size(); i++) {
            if (reads((LogicalPlan) below.get(i), root)) {
                return true;
            }
        }
        return false;
    }
}
