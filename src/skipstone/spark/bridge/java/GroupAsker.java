package skipstone;

import com.fasterxml.jackson.databind.ObjectMapper;

import org.apache.spark.sql.classic.SparkSession;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import java.util.BitSet;
import java.util.List;
import java.util.Map;
import java.util.function.Function;

/**
 * Asks Python what a scan reads of column groups, and remembers it where somebody wants to know.
 */
final class GroupAsker {
    private static final Logger LOG = LoggerFactory.getLogger("skipstone");

    /** When groups are read: "auto" by what it costs, "always" where it is possible, or "never". */
    private static final String MODE = "spark.skipstone.groups";

    private static final ObjectMapper JSON = new ObjectMapper();

    final ScanPruner pruner;
    private volatile Function chooser;

    GroupAsker(ScanPruner pruner) {
        this.pruner = pruner;
    }

    void connect(Function function) {
        this.chooser = function;
    }

    /**
     * The answer; null where no groups are read.
     *
     * @param columns the columns that the scan has to give
     * @param session whose settings count, and how many tasks it can run at a time
     */
    GroupAnswer ask(GroupOffer offer, String[] columns, SparkSession session) throws Exception {
        StringBuilder names = new StringBuilder();
        for (int i = 0; i < columns.length; i++) {
            names.append(i == 0 ? "" : ",").append(JsonText.quote(columns[i]));
        }
        String question =
                "{\"question\":"
                        + offer.question
                        + ",\"columns\":["
                        + names
                        + "],\"tasks\":"
                        + session.sparkContext().defaultParallelism()
                        + ",\"mode\":"
                        + JsonText.quote(session.sessionState().conf().getConfString(MODE, "auto"))
                        + "}";
        String answer = (String) chooser.apply(question);
        if (!answer.startsWith("{")) {
            LOG.info("skipstone reads no column groups of " + offer.table.root + ": " + answer);
            return null;
        }
        Object read = JSON.readValue(answer, Map.class);
        return new GroupAnswer(answer, (Map) read);
    }

    /** What is read of column groups. */
    static final class GroupAnswer {
        final String text;
        final BitSet chosen;
        final BitSet replaced;

        /** For each replica what is read of it. */
        final List reads;

        GroupAnswer(String text, Map found) {
            this.text = text;
            this.chosen = bits((List) found.get("chosen"));
            this.replaced = bits((List) found.get("replaced"));
            this.reads = (List) found.get("reads");
        }

        private static BitSet bits(List numbers) {
            BitSet out = new BitSet();
            for (int i = 0; i < numbers.size(); i++) {
                out.set(((Number) numbers.get(i)).intValue());
            }
            return out;
        }
    }
}
