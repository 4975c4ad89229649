package skipstone;

import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;

import java.util.Locale;

/** What was decided about a scan and one key of a join, for explain. */
final class JoinNote {
    private final String key;
    private final String type;
    private final String other;
    private final String scan;
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
        this.key =
                JoinSide.text(target.key)
                        + " = "
                        + JoinSide.text((Expression) side.otherKeys.apply(index));
        this.type = side.join.joinType().sql().toLowerCase(Locale.ROOT);
        this.other = JoinSide.text(rows);
        this.scan = JoinSide.text(target.scan);
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
        return scan + "\n" + key + "\n" + type + "\n" + other;
    }

    String json() {
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
