package skipstone;

import org.apache.spark.sql.catalyst.expressions.Alias;
import org.apache.spark.sql.catalyst.expressions.DynamicPruningSubquery;
import org.apache.spark.sql.catalyst.expressions.ExprId;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.Literal;
import org.apache.spark.sql.catalyst.expressions.NamedExpression$;
import org.apache.spark.sql.catalyst.optimizer.ColumnPruning$;
import org.apache.spark.sql.catalyst.plans.logical.Aggregate;
import org.apache.spark.sql.catalyst.plans.logical.Filter;
import org.apache.spark.sql.catalyst.plans.logical.GlobalLimit;
import org.apache.spark.sql.catalyst.plans.logical.HintInfo;
import org.apache.spark.sql.catalyst.plans.logical.Join;
import org.apache.spark.sql.catalyst.plans.logical.LocalLimit;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.execution.datasources.HadoopFsRelation;
import org.apache.spark.sql.execution.datasources.LogicalRelation;
import org.apache.spark.sql.internal.SQLConf;
import org.apache.spark.sql.types.IntegerType$;

import scala.Option;
import scala.collection.Iterator;
import scala.collection.immutable.Seq;

/** One side of an equijoin, whose scans may be pruned by the keys of the other. */
final class JoinSide {
    final Join join;
    final boolean left;
    final Seq keys;
    final Seq otherKeys;

    JoinSide(Join join, boolean left, Seq leftKeys, Seq rightKeys) {
        this.join = join;
        this.left = left;
        this.keys = left ? leftKeys : rightKeys;
        this.otherKeys = left ? rightKeys : leftKeys;
    }

    LogicalPlan pruned() {
        return left ? join.left() : join.right();
    }

    LogicalPlan other() {
        return left ? join.right() : join.left();
    }

    /** The positions of both as children of the join. */
    int prunedChild() {
        return left ? 0 : 1;
    }

    int otherChild() {
        return left ? 1 : 0;
    }

    /** Whether rows of this side without a partner are dropped. */
    boolean drops() {
        String type = join.joinType().toString();
        return isInner(type)
                || type.equals("LeftSemi")
                || type.equals(left ? "RightOuter" : "LeftOuter")
                || !left && type.equals("LeftAnti");
    }

    /** A product of tables is an inner join once it has a condition. */
    private static boolean isInner(String type) {
        return type.equals("Inner") || type.equals("Cross");
    }

    /** Whether Spark would broadcast the other side, by its size or a hint. */
    boolean broadcasts(SQLConf conf) {
        String type = join.joinType().toString();
        boolean possible = isInner(type) || left && type.equals("LeftSemi");
        Option own = left ? join.hint().leftHint() : join.hint().rightHint();
        Option others = left ? join.hint().rightHint() : join.hint().leftHint();
        String wanted = strategy(others);
        if (!possible || strategy(own).length() > 0 && wanted.length() == 0) {
            return false;
        }
        return wanted.length() > 0
                ? wanted.equals("broadcast")
                : size(other()) <= Math.min(conf.autoBroadcastJoinThreshold(), size(pruned()));
    }

    private static String strategy(Option hint) {
        if (hint.isEmpty()) {
            return "";
        }
        Option strategy = ((HintInfo) hint.get()).strategy();
        return strategy.isEmpty() ? "" : strategy.get().toString();
    }

    static double size(LogicalPlan plan) {
        return plan.stats().sizeInBytes().doubleValue();
    }

    /** What computing a plan reads, in bytes. */
    static double cost(LogicalPlan plan) {
        double sum = 0.0;
        Iterator leaves = plan.collectLeaves().iterator();
        while (leaves.hasNext()) {
            sum += size((LogicalPlan) leaves.next());
        }
        return sum;
    }

    /** The keys as they are broadcast for the join; nothing else is computed for them. */
    static DynamicPruningSubquery broadcast(
            Expression key, LogicalPlan other, Seq otherKeys, int index) {
        return subquery(key, other, otherKeys, index, true);
    }

    /** The keys computed once more, without the columns that only the join needs. */
    static DynamicPruningSubquery collected(
            Expression key, LogicalPlan other, Expression otherKey) {
        ExprId id = NamedExpression$.MODULE$.newExprId();
        Alias name =
                new Alias(otherKey, "key", id, ScalaSeq.empty(), Option.empty(), ScalaSeq.empty());
        LogicalPlan keys =
                new Aggregate(ScalaSeq.of(otherKey), ScalaSeq.of(name), other, Option.empty());
        Object narrow = ColumnPruning$.MODULE$.apply(keys);
        Literal most = new Literal(Integer.valueOf(JoinPruner.MOST_KEYS + 1), IntegerType$.MODULE$);
        LogicalPlan some = new GlobalLimit(most, new LocalLimit(most, (LogicalPlan) narrow));
        return subquery(key, some, ScalaSeq.of(name.toAttribute()), 0, false);
    }

    private static DynamicPruningSubquery subquery(
            Expression key, LogicalPlan plan, Seq keys, int index, boolean onlyInBroadcast) {
        return new DynamicPruningSubquery(
                key,
                plan,
                keys,
                ScalaSeq.of(Integer.valueOf(index)),
                onlyInBroadcast,
                NamedExpression$.MODULE$.newExprId(),
                Option.empty());
    }

    /** The tables and filters of a plan, for people. */
    static String text(LogicalPlan plan) {
        StringBuilder tables = new StringBuilder();
        StringBuilder filters = new StringBuilder();
        describe(plan, tables, filters);
        return tables + (filters.length() == 0 ? "" : " where " + filters);
    }

    /** An expression without the numbers of its columns. */
    static String text(Expression expression) {
        return plain(expression.toString());
    }

    private static String plain(String text) {
        return text.replaceAll("#\\d+L?", "")
                .replaceAll(
                        "knownfloatingpointnormalized\\(normalizenanandzero\\((\\w+)\\)\\)", "$1");
    }

    private static void describe(LogicalPlan plan, StringBuilder tables, StringBuilder filters) {
        if (plan instanceof Filter) {
            filters.append(filters.length() == 0 ? "" : " and ")
                    .append(plain(((Filter) plan).condition().toString()));
        }
        if (plan.children().isEmpty()) {
            tables.append(tables.length() == 0 ? "" : ", ").append(leaf(plan));
        }
        Iterator children = plan.children().iterator();
        while (children.hasNext()) {
            describe((LogicalPlan) children.next(), tables, filters);
        }
    }

    private static String leaf(LogicalPlan plan) {
        if (plan instanceof LogicalRelation
                && ((LogicalRelation) plan).relation() instanceof HadoopFsRelation) {
            HadoopFsRelation files = (HadoopFsRelation) ((LogicalRelation) plan).relation();
            Seq roots = (Seq) files.location().rootPaths();
            return roots.isEmpty()
                    ? "files"
                    : new org.apache.hadoop.fs.Path(roots.head().toString()).getName();
        }
        return plan.nodeName();
    }
}
