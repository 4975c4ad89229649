package skipstone;

import org.apache.spark.sql.execution.InSubqueryExec;
import org.apache.spark.sql.execution.ScanFileListing;

import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * What joins decided when they last ran. A query that is planned anew asks for it by what it would
 * decide: the table, its filter, the key and the other side, all as text.
 */
final class JoinRecords {
    private static final int MOST = 1024;

    /** By the number of a run-time filter, what it decides. */
    private final Map decisions = Collections.synchronizedMap(new Newest());

    /** By what is decided, what came out. */
    private final Map runs = Collections.synchronizedMap(new Newest());

    void planned(long filter, String decision) {
        decisions.put(Long.valueOf(filter), decision);
    }

    /** Whether a run-time filter was made here. */
    boolean made(long filter) {
        return decisions.containsKey(Long.valueOf(filter));
    }

    void ran(List filters, Run run) {
        for (int i = 0; i < filters.size(); i++) {
            long id = ((InSubqueryExec) filters.get(i)).exprId().id();
            Object decision = decisions.get(Long.valueOf(id));
            if (decision != null) {
                runs.put(decision, run.json(i));
            }
        }
    }

    /** As JSON; "null" if it did not run, or was forgotten. */
    String last(String decision) {
        Object found = runs.get(decision);
        return found == null ? "null" : (String) found;
    }

    /** One run of a scan. */
    static final class Run {
        final List keys = new ArrayList();
        String failure = "";
        private final long files;
        private final long bytes;
        private long filesRead;
        private long bytesRead;

        Run(ScanFileListing all) {
            this.files = all.totalNumberOfFiles();
            this.bytes = all.totalFileSize();
            left(all);
        }

        void left(ScanFileListing kept) {
            filesRead = kept.totalNumberOfFiles();
            bytesRead = kept.totalFileSize();
        }

        /** For one of its filters. */
        String json(int filter) {
            return "{\"keys\":"
                    + (filter < keys.size() ? keys.get(filter) : Integer.valueOf(0))
                    + ",\"files\":"
                    + files
                    + ",\"files_read\":"
                    + filesRead
                    + ",\"bytes\":"
                    + bytes
                    + ",\"bytes_read\":"
                    + bytesRead
                    + ",\"failure\":"
                    + JsonText.quote(failure)
                    + "}";
        }
    }

    /** Forgets what was not asked for longest. */
    static final class Newest extends LinkedHashMap {
        private static final long serialVersionUID = 1L;

        Newest() {
            super(64, 0.75f, true);
        }

        protected boolean removeEldestEntry(Map.Entry eldest) {
            return size() > MOST;
        }
    }
}
