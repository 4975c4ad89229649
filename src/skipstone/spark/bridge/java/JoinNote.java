package skipstone;

import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.execution.datasources.LogicalRelation;

import java.util.List;
import java.util.Locale;

/** What was decided about a scan and one key of a join, for explain. */
final class JoinNote {
    private final JoinTarget target;
    private final JoinSide side;
    private final int index;
    private final LogicalPlan rows;

    // Texts of plans take time, and are wanted only if a join is used or somebody asks.
    private String key;
    private String type;
    private String other;
    private String scan;
    private String code = "";
    private String sentence = "";
    double share = -1.0;

    /** What came out when this was last run, as JSON. */
    String last = "null";

    JoinNote(JoinTarget target, JoinSide side, int index) {
        this(target, side, index, side.other());
    }

    /**
     * @param rows what the keys are those of
     */
    JoinNote(JoinTarget target, JoinSide side, int index, LogicalPlan rows) {
        this.target = target;
        this.side = side;
        this.index = index;
        this.rows = rows;
    }

    private void describe() {
        if (key == null) {
            key =
                    JoinSide.text(target.key)
                            + " = "
                            + JoinSide.text((Expression) side.otherKeys.apply(index));
            type = side.join.joinType().sql().toLowerCase(Locale.ROOT);
            other = JoinSide.text(rows);
            scan = JoinSide.text(target.scan);
        }
    }

    /** About a scan whose inner joins a joined replica may answer. */
    JoinNote(InnerJoins joins, LogicalRelation scan) {
        this.target = null;
        this.side = null;
        this.index = 0;
        this.rows = null;
        List pairs = joins.equalities();
        StringBuilder keys = new StringBuilder();
        for (int i = 0; i < pairs.size(); i++) {
            Expression[] pair = (Expression[]) pairs.get(i);
            keys.append(i == 0 ? "" : ", ").append(JoinSide.text(pair[0]));
            keys.append(" = ").append(JoinSide.text(pair[1]));
        }
        StringBuilder others = new StringBuilder();
        for (int i = 0; i < joins.leaves.size(); i++) {
            if (joins.leaf(i) != scan) {
                others.append(others.length() == 0 ? "" : ", ")
                        .append(JoinSide.text(joins.leaf(i)));
            }
        }
        this.key = keys.length() == 0 ? "other keys" : keys.toString();
        this.type = "inner";
        this.other = others.length() == 0 ? "other rows" : others.toString();
        this.scan = JoinSide.text(scan);
    }

    /** Whether nothing was decided. */
    boolean isOpen() {
        return code.length() == 0;
    }

    void decide(String code, String sentence) {
        this.code = code;
        this.sentence = sentence;
    }

    /** Returns null, for what is refused. */
    JoinRule.Choice refuse(String code, String sentence) {
        this.code = code;
        this.sentence = sentence;
        return null;
    }

    void accept(boolean broadcast, double share) {
        this.share = share;
        code = broadcast ? "BROADCAST" : "COLLECTED";
        sentence =
                broadcast
                        ? "files are skipped by the keys that are broadcast for the join"
                        : "files are skipped by the keys, which are computed before the scan";
    }

    /** What is decided, as text: the same when the same query is planned again. */
    String decision() {
        describe();
        return scan + "\n" + key + "\n" + type + "\n" + other;
    }

    String json() {
        describe();
        return "{\"key\":"
                + JsonText.quote(shortened(key))
                + ",\"join\":"
                + JsonText.quote(type)
                + ",\"other\":"
                + JsonText.quote(shortened(other))
                + ",\"code\":"
                + JsonText.quote(code)
                + ",\"sentence\":"
                + JsonText.quote(sentence)
                + ",\"share\":"
                + (share < 0.0 ? "null" : Double.toString(share))
                + ",\"last\":"
                + last
                + "}";
    }

    private static String shortened(String text) {
        return text.length() > 200 ? text.substring(0, 197) + "..." : text;
    }
}
