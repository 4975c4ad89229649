package skipstone;

import org.apache.spark.sql.catalyst.expressions.Alias;
import org.apache.spark.sql.catalyst.expressions.AttributeReference;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.plans.logical.Aggregate;
import org.apache.spark.sql.catalyst.plans.logical.Filter;
import org.apache.spark.sql.catalyst.plans.logical.Join;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.Project;
import org.apache.spark.sql.catalyst.plans.logical.Sort;

import scala.Option;
import scala.collection.Iterator;
import scala.collection.immutable.Seq;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.IdentityHashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Join-induced predicates: what the joins of a plan ask of the rows of its scans. A scan's row is
 * only wanted if some row of another table has its key and satisfies what the query asks of that
 * table.
 *
 * <p>From a join such a condition goes down only through operators below which it drops no other
 * rows than above: the same ones as in {@link JoinTarget}. The other side may be anything, as long
 * as each of its rows stands for a row of the other table: {@link PartnerRows}.
 */
final class PartnerFinder {
    private static final int MOST_LINKS = 4;
    private static final int MOST = 24;

    private final PartnerSource source;
    private final IdentityHashMap found = new IdentityHashMap();

    private PartnerFinder(PartnerSource source) {
        this.source = source;
    }

    /** A condition on the columns of a plan: some partner has them as its keys. */
    static final class Given {
        final List keys;
        final List others;
        final Map partner;

        Given(List keys, List others, Map partner) {
            this.keys = keys;
            this.others = others;
            this.partner = partner;
        }

        Map json(PartnerRows rows) {
            Map out = new LinkedHashMap(partner);
            out.put("keys", trees(keys, rows));
            out.put("others", trees(others, null));
            return out;
        }
    }

    /** The predicates of each leaf, as lists of what is written of them. */
    static IdentityHashMap find(LogicalPlan plan, PartnerSource source) throws Exception {
        PartnerFinder finder = new PartnerFinder(source);
        finder.down(plan, new ArrayList());
        return finder.found;
    }

    private void down(LogicalPlan plan, List givens) throws Exception {
        if (plan.children().isEmpty()) {
            List all = new ArrayList();
            // A leaf that stands in two places must do for both.
            for (int i = 0; i < givens.size() && !found.containsKey(plan); i++) {
                all.add(((Given) givens.get(i)).json(null));
            }
            found.put(plan, all);
        } else if (plan instanceof Filter) {
            boolean fixed = ((Filter) plan).condition().deterministic();
            down(((Filter) plan).child(), fixed ? givens : new ArrayList());
        } else if (plan instanceof Project) {
            down(((Project) plan).child(), below(givens, ((Project) plan).projectList(), null));
        } else if (plan instanceof Aggregate) {
            Aggregate group = (Aggregate) plan;
            down(
                    group.child(),
                    below(givens, group.aggregateExpressions(), group.groupingExpressions()));
        } else if (plan instanceof Sort) {
            down(((Sort) plan).child(), givens);
        } else if (plan instanceof Join) {
            join((Join) plan, givens);
        } else {
            Iterator children = plan.children().iterator();
            while (children.hasNext()) {
                down((LogicalPlan) children.next(), new ArrayList());
            }
        }
    }

    /** The conditions that can be said below a projection or a grouping. */
    private static List below(List givens, Seq named, Seq groups) {
        List out = new ArrayList();
        if (!deterministic(named)) {
            return out;
        }
        for (int i = 0; i < givens.size(); i++) {
            Given given = (Given) givens.get(i);
            List keys = new ArrayList();
            for (int k = 0; k < given.keys.size(); k++) {
                Expression key = named((Expression) given.keys.get(k), named);
                if (key instanceof AttributeReference && (groups == null || among(key, groups))) {
                    keys.add(key);
                }
            }
            if (keys.size() == given.keys.size()) {
                out.add(new Given(keys, given.others, given.partner));
            }
        }
        return out;
    }

    private static boolean deterministic(Seq expressions) {
        Iterator each = expressions.iterator();
        while (each.hasNext()) {
            if (!((Expression) each.next()).deterministic()) {
                return false;
            }
        }
        return true;
    }

    private static Expression named(Expression key, Seq named) {
        Iterator each = named.iterator();
        while (each.hasNext()) {
            Object found = each.next();
            if (found instanceof Alias
                    && ((Alias) found).exprId().equals(((AttributeReference) key).exprId())) {
                return ((Alias) found).child();
            }
        }
        return key;
    }

    static boolean among(Expression key, Seq groups) {
        Iterator each = groups.iterator();
        while (each.hasNext()) {
            if (((Expression) each.next()).semanticEquals(key)) {
                return true;
            }
        }
        return false;
    }

    private void join(Join join, List givens) throws Exception {
        String type = join.joinType().toString();
        LogicalPlan left = join.left();
        LogicalPlan right = join.right();
        Option condition = join.condition();
        boolean fixed = condition.isEmpty() || ((Expression) condition.get()).deterministic();
        boolean both = type.equals("Inner") || type.equals("Cross");
        boolean semi = type.equals("LeftSemi");
        List ofLeft = new ArrayList();
        List ofRight = new ArrayList();
        if (fixed && (both || semi || type.equals("LeftOuter") || type.equals("LeftAnti"))) {
            ofLeft = on(left, givens);
        }
        if (fixed && (both || type.equals("RightOuter"))) {
            ofRight = on(right, givens);
        }
        List forLeft = new ArrayList(ofLeft);
        List forRight = new ArrayList(ofRight);
        if (fixed && (both || semi || type.equals("RightOuter"))) {
            forLeft.addAll(partners(join, left, right, ofRight));
            forLeft.addAll(across(join, left, ofRight));
        }
        if (fixed && (both || semi || type.equals("LeftOuter"))) {
            forRight.addAll(partners(join, right, left, ofLeft));
            forRight.addAll(across(join, right, ofLeft));
        }
        down(left, forLeft);
        down(right, forRight);
    }

    /** What holds of the columns of the other side holds of those that equal them. */
    private static List across(Join join, LogicalPlan side, List givens) {
        List out = new ArrayList();
        Option condition = join.condition();
        List conjuncts = new ArrayList();
        if (condition.isDefined()) {
            ScanQuestion.split((Expression) condition.get(), conjuncts);
        }
        for (int i = 0; i < givens.size(); i++) {
            Given given = (Given) givens.get(i);
            List keys = new ArrayList();
            for (int k = 0; k < given.keys.size(); k++) {
                Expression same = equalOn(side, (Expression) given.keys.get(k), conjuncts);
                if (same != null) {
                    keys.add(same);
                }
            }
            if (keys.size() == given.keys.size()) {
                out.add(new Given(keys, given.others, given.partner));
            }
        }
        return out;
    }

    private static Expression equalOn(LogicalPlan side, Expression key, List conjuncts) {
        for (int i = 0; i < conjuncts.size(); i++) {
            Expression[] pair = PartnerRows.equality((Expression) conjuncts.get(i));
            for (int k = 0; pair != null && k < 2; k++) {
                if (pair[k].semanticEquals(key)
                        && pair[1 - k].references().subsetOf(side.outputSet())) {
                    return pair[1 - k];
                }
            }
        }
        return null;
    }

    private static List on(LogicalPlan side, List givens) {
        List out = new ArrayList();
        for (int i = 0; i < givens.size(); i++) {
            List keys = ((Given) givens.get(i)).keys;
            boolean all = true;
            for (int k = 0; k < keys.size(); k++) {
                all = all && ((Expression) keys.get(k)).references().subsetOf(side.outputSet());
            }
            if (all) {
                out.add(givens.get(i));
            }
        }
        return out;
    }

    /**
     * What one side of a join asks of the other: all leaves of the one that share a key with it.
     */
    private List partners(Join join, LogicalPlan side, LogicalPlan other, List givens)
            throws Exception {
        List out = new ArrayList();
        Option condition = join.condition();
        if (condition.isEmpty()) {
            return out;
        }
        PartnerRows rows = PartnerRows.of(other);
        List conjuncts = new ArrayList();
        ScanQuestion.split((Expression) condition.get(), conjuncts);
        Map keys = new LinkedHashMap();
        Map others = new LinkedHashMap();
        for (int i = 0; i < conjuncts.size(); i++) {
            Expression[] pair = PartnerRows.equality((Expression) conjuncts.get(i));
            if (pair == null) {
                continue;
            }
            boolean first = pair[0].references().subsetOf(side.outputSet());
            Expression mine = first ? pair[0] : pair[1];
            Expression theirs = rows.resolved(first ? pair[1] : pair[0]);
            PartnerRows.Leaf leaf = rows.leafOf(theirs);
            if (mine.references().subsetOf(side.outputSet())
                    && theirs instanceof AttributeReference
                    && leaf != null) {
                listOf(keys, leaf).add(mine);
                listOf(others, leaf).add(theirs);
            }
        }
        java.util.Iterator leaves = keys.keySet().iterator();
        while (leaves.hasNext() && out.size() < MOST) {
            PartnerRows.Leaf leaf = (PartnerRows.Leaf) leaves.next();
            Map described = describe(leaf, rows, givens, new HashSet(), 1);
            if (described != null) {
                out.add(new Given((List) keys.get(leaf), (List) others.get(leaf), described));
            }
        }
        return out;
    }

    private static List listOf(Map lists, Object key) {
        List found = (List) lists.get(key);
        if (found == null) {
            found = new ArrayList();
            lists.put(key, found);
        }
        return found;
    }

    /** What a row of a leaf satisfies, its own partners included; null if that is nothing. */
    private Map describe(PartnerRows.Leaf leaf, PartnerRows rows, List givens, Set seen, int links)
            throws Exception {
        Map table = source.table(leaf.plan);
        if (table == null || links > MOST_LINKS) {
            return null;
        }
        Set now = new HashSet(seen);
        now.add(leaf);
        List partners = new ArrayList();
        for (int i = 0; i < rows.leaves.size(); i++) {
            PartnerRows.Leaf next = (PartnerRows.Leaf) rows.leaves.get(i);
            Given link = now.contains(next) ? null : link(leaf, next, rows, givens, now, links);
            if (link != null) {
                partners.add(link.json(null));
            }
        }
        for (int i = 0; i < givens.size(); i++) {
            Given given = (Given) givens.get(i);
            boolean own = true;
            for (int k = 0; k < given.keys.size(); k++) {
                Expression key = rows.resolved((Expression) given.keys.get(k));
                own = own && key instanceof AttributeReference && leaf.has(key);
            }
            if (own) {
                partners.add(given.json(rows));
            }
        }
        if (leaf.conditions.isEmpty() && partners.isEmpty()) {
            return null;
        }
        Map out = new LinkedHashMap(table);
        out.put("where", trees(leaf.conditions, null));
        out.put("partners", partners);
        return out;
    }

    private Given link(
            PartnerRows.Leaf leaf,
            PartnerRows.Leaf next,
            PartnerRows rows,
            List givens,
            Set seen,
            int links)
            throws Exception {
        List keys = new ArrayList();
        List others = new ArrayList();
        for (int i = 0; i < rows.equal.size(); i++) {
            Expression[] pair = (Expression[]) rows.equal.get(i);
            for (int k = 0; k < 2; k++) {
                if (leaf.has(pair[k]) && next.has(pair[1 - k])) {
                    keys.add(pair[k]);
                    others.add(pair[1 - k]);
                }
            }
        }
        Map described = keys.isEmpty() ? null : describe(next, rows, givens, seen, links + 1);
        return described == null ? null : new Given(keys, others, described);
    }

    private static List trees(List expressions, PartnerRows rows) {
        List out = new ArrayList();
        for (int i = 0; i < expressions.size(); i++) {
            Expression each = (Expression) expressions.get(i);
            out.add(CatalystJson.tree(rows == null ? each : rows.resolved(each)));
        }
        return out;
    }
}
