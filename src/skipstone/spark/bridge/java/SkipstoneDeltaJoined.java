package skipstone;

import org.apache.hadoop.conf.Configuration;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.classic.Dataset;
import org.apache.spark.sql.classic.SparkSession;
import org.apache.spark.sql.delta.Snapshot;
import org.apache.spark.sql.delta.actions.AddFile;
import org.apache.spark.sql.delta.files.TahoeLogFileIndex;
import org.apache.spark.sql.delta.stats.DeltaScan;
import org.apache.spark.sql.execution.datasources.HadoopFsRelation;
import org.apache.spark.sql.execution.datasources.LogicalRelation;

import java.lang.ref.WeakReference;
import java.util.concurrent.ConcurrentHashMap;

/** Scans of joined replicas, which are Delta tables that nobody but skipstone writes to. */
final class SkipstoneDeltaJoined {
    private final PresentFiles present = new PresentFiles();
    private final ConcurrentHashMap known = new ConcurrentHashMap();

    /** A version of a replica. */
    static final class Version {
        final WeakReference snapshot;
        final String state;
        final DeltaScan scan;
        final FilesThere there;

        Version(Snapshot snapshot, String state, DeltaScan scan, FilesThere there) {
            this.snapshot = new WeakReference(snapshot);
            this.state = state;
            this.scan = scan;
            this.there = there;
        }
    }

    /**
     * A scan of all files, with ids of its own; null unless they are there and in this very state.
     */
    LogicalRelation open(SparkSession session, String root, String state) throws Exception {
        Dataset frame = (Dataset) session.read().format("delta").load(root);
        LogicalPlan plan = frame.queryExecution().analyzed();
        if (!(plan instanceof LogicalRelation)) {
            return null;
        }
        LogicalRelation scan = (LogicalRelation) plan;
        Object location = ((HadoopFsRelation) scan.relation()).location();
        if (!(location instanceof TahoeLogFileIndex)) {
            return null;
        }
        TahoeLogFileIndex index = (TahoeLogFileIndex) location;
        Version version = version(root, index.getSnapshot());
        Configuration conf = session.sessionState().newHadoopConf();
        if (!version.state.equals(state) || !version.there.missing(conf).isEmpty()) {
            return null;
        }
        return Relations.reading(scan, new SkipstoneDelta.Everything(index, version.scan));
    }

    private Version version(String root, Snapshot snapshot) {
        Version before = (Version) known.get(root);
        if (before != null && before.snapshot.get() == snapshot) {
            return before;
        }
        AddFile[] files = (AddFile[]) snapshot.allFiles().collect();
        String[] paths = new String[files.length];
        long[] sizes = new long[files.length];
        for (int i = 0; i < files.length; i++) {
            paths[i] = files[i].path();
            sizes[i] = files[i].size();
        }
        Version now =
                new Version(
                        snapshot,
                        DeltaState.of(files, snapshot.metadata().schemaString()),
                        SkipstoneEarly.scanOf(snapshot, files),
                        new FilesThere(present, snapshot.dataPath(), paths, sizes));
        known.put(root, now);
        return now;
    }
}
