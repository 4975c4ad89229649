package skipstone;

import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.spark.sql.Column;
import org.apache.spark.sql.classic.Dataset;
import org.apache.spark.sql.classic.SparkSession;
import org.apache.spark.sql.delta.DeltaLog;
import org.apache.spark.sql.delta.DeltaOperations;
import org.apache.spark.sql.delta.OptimisticTransaction;
import org.apache.spark.sql.delta.Snapshot;
import org.apache.spark.sql.delta.actions.AddFile;

import scala.Option;
import scala.collection.Iterator;
import scala.collection.immutable.Seq;
import scala.collection.mutable.ListBuffer;

import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Pattern;

/**
 * One rewrite of files of a Delta table: begin, write, and then either commit or abandon. What is
 * written is no part of the table until the commit, which replaces the chosen files by the new ones
 * at once, as a rearrangement (dataChange = false). Delta refuses the commit when somebody else
 * removed or changed one of the chosen files meanwhile; files that others added stay.
 */
public final class SkipstoneRewrite {
    private static final String COLLECT = "spark.databricks.delta.stats.collect";
    private static final Pattern FIRST_TASK = Pattern.compile("(^|/)part-00000-[^/]*$");

    private SkipstoneDeltaFiles before;
    private SkipstoneDeltaFiles written;
    private OptimisticTransaction transaction;
    private BitSet chosen;

    public SkipstoneRewrite() {}

    /**
     * Looks at the newest version of a table; if that is the known one, its files are not listed
     * again.
     */
    public SkipstoneDeltaFiles begin(SparkSession session, String root, SkipstoneDeltaFiles known) {
        Option active = ActiveSession.swap(session);
        try {
            DeltaLog log = DeltaLog.forTable(session, new Path(root));
            Snapshot newest = log.update(false, Option.empty(), Option.empty());
            boolean same =
                    newest.version() == known.version()
                            && newest.metadata().id().equals(known.snapshot().metadata().id());
            before = same ? known : SkipstoneDeltaFiles.newest(log);
            return before;
        } finally {
            ActiveSession.restore(active);
        }
    }

    /** The rows that the table has in the chosen files now. */
    public Dataset live(SparkSession session, byte[] fileBits) {
        return before.live(session, fileBits);
    }

    /**
     * Table properties and features, as JSON, for the checks that come before anything is written.
     */
    public String properties() throws Exception {
        Map out = new TreeMap();
        Iterator entries = before.snapshot().metadata().configuration().iterator();
        while (entries.hasNext()) {
            scala.Tuple2 entry = (scala.Tuple2) entries.next();
            out.put(entry._1(), entry._2());
        }
        return CatalystJson.text(out);
    }

    /**
     * Delta's own statistics of a file, as an aggregate over its rows; null where Delta has to find
     * them while it writes, or keeps none.
     *
     * <p>Delta's writer generates code for them anew for each file, and updates them row by row.
     * For small files that takes longer than encoding them, and we read what was written anyway.
     */
    public Column statistics(SparkSession session) {
        Option active = ActiveSession.swap(session);
        try {
            // Those of variants come from footers, and Iceberg's readers need them all.
            boolean plain = before.snapshot().metadata().schemaString().indexOf("variant") < 0;
            Iterator keys = before.snapshot().metadata().configuration().keysIterator();
            while (keys.hasNext()) {
                String key = ((String) keys.next()).toLowerCase(java.util.Locale.ROOT);
                plain &= key.indexOf("iceberg") < 0 && key.indexOf("universalformat") < 0;
            }
            boolean kept = Boolean.parseBoolean(session.conf().get(COLLECT, "true"));
            return plain && kept
                    ? org.apache.spark.sql.functions.to_json(before.snapshot().statsCollector())
                    : null;
        } finally {
            ActiveSession.restore(active);
        }
    }

    /** Gives each written file its statistics: JSON texts in the order of the files. */
    public void describe(byte[] statistics) {
        String[] texts = new String(statistics, StandardCharsets.UTF_8).split("\0", -1);
        AddFile[] files = new AddFile[written.paths.size()];
        for (int i = 0; i < files.length; i++) {
            files[i] = SkipstoneDeltaFiles.with(written.file(i), "stats", texts[i]);
        }
        written = new SkipstoneDeltaFiles(before.snapshot(), files);
    }

    /**
     * Writes the rows as new files, which replace the files at the chosen indices once committed.
     * With a folder, a path below the table's root, they are written there, and are never
     * committed: they are those of a replica.
     */
    public SkipstoneDeltaFiles write(
            SparkSession session, Dataset rows, byte[] fileBits, String folder) throws Exception {
        chosen = BitSet.valueOf(fileBits);
        Option active = ActiveSession.swap(session);
        try {
            transaction =
                    before.snapshot()
                            .deltaLog()
                            .startTransaction(Option.empty(), Option.apply(before.snapshot()));
            transaction.trackFilesRead(chosenFiles());
            if (folder.length() > 0) {
                // What Delta's setting for a folder of all data files sets, for this write alone.
                transaction
                        .org$apache$spark$sql$delta$files$TransactionalWrite$_setter_$deltaDataSubdir_$eq(
                                Option.apply(folder));
            }
            Seq actions = written(session, rows);
            List files = new ArrayList();
            Iterator all = actions.iterator();
            while (all.hasNext()) {
                Object action = all.next();
                if (action instanceof AddFile) {
                    files.add(action);
                }
            }
            written =
                    new SkipstoneDeltaFiles(
                            before.snapshot(),
                            (AddFile[]) files.toArray(new AddFile[files.size()]));
            dropEmpty(session.sessionState().newHadoopConf());
            return written;
        } finally {
            ActiveSession.restore(active);
        }
    }

    private Seq written(SparkSession session, Dataset rows) {
        Configuration settings = session.sparkContext().hadoopConfiguration();
        SettingSources.leaveOut(settings);
        try {
            return transaction.writeFiles(rows, Option.empty(), true, ScalaSeq.empty());
        } finally {
            SettingSources.putBack(settings);
        }
    }

    /**
     * Leaves out a file without rows. Spark's first task writes one even if it has none, and Delta
     * only notices when it keeps statistics.
     */
    private void dropEmpty(Configuration conf) throws Exception {
        List kept = new ArrayList();
        for (int i = 0; i < written.paths.size(); i++) {
            AddFile file = written.file(i);
            if (file.stats() == null && FIRST_TASK.matcher(file.path()).find()) {
                Path path = file.absolutePath(before.snapshot().deltaLog());
                if (SkipstoneFooters.rows(conf, path) == 0L) {
                    path.getFileSystem(conf).delete(path, false);
                    continue;
                }
            }
            kept.add(file);
        }
        written =
                new SkipstoneDeltaFiles(
                        before.snapshot(), (AddFile[]) kept.toArray(new AddFile[kept.size()]));
    }

    private Seq chosenFiles() {
        ListBuffer out = new ListBuffer();
        for (int i = chosen.nextSetBit(0); i >= 0; i = chosen.nextSetBit(i + 1)) {
            out.addOne(before.file(i));
        }
        return out.toList();
    }

    /**
     * Replaces the chosen files by the written ones in one commit and returns the table's new
     * version.
     */
    public long commit(SparkSession session) {
        Option active = ActiveSession.swap(session);
        try {
            ListBuffer actions = new ListBuffer();
            for (int i = 0; i < written.paths.size(); i++) {
                actions.addOne(
                        SkipstoneDeltaFiles.with(written.file(i), "dataChange", Boolean.FALSE));
            }
            long now = System.currentTimeMillis();
            for (int i = chosen.nextSetBit(0); i >= 0; i = chosen.nextSetBit(i + 1)) {
                actions.addOne(before.file(i).removeWithTimestamp(now, false));
            }
            return transaction.commit(
                    actions.toList(),
                    new DeltaOperations.Optimize(
                            ScalaSeq.empty(), ScalaSeq.empty(), false, Option.empty(), false));
        } finally {
            ActiveSession.restore(active);
        }
    }

    /** The table's newest version if the written files are part of it; -1 if they are not. */
    public long committed(SparkSession session) {
        Option active = ActiveSession.swap(session);
        try {
            SkipstoneDeltaFiles now = SkipstoneDeltaFiles.newest(before.snapshot().deltaLog());
            boolean there = !Collections.disjoint(new HashSet(now.paths), written.paths);
            return there ? now.version() : -1L;
        } finally {
            ActiveSession.restore(active);
        }
    }

    /** Deletes what was written; never once a commit may have made it part of the table. */
    public void abandon(SparkSession session) throws Exception {
        if (written == null) {
            return;
        }
        Path root = before.snapshot().dataPath();
        FileSystem fs = root.getFileSystem(session.sessionState().newHadoopConf());
        for (int i = 0; i < written.paths.size(); i++) {
            fs.delete(new Path(root, new Path(URI.create((String) written.paths.get(i)))), false);
        }
    }
}
