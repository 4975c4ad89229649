package skipstone;

import org.apache.spark.sql.delta.Snapshot;
import org.apache.spark.sql.delta.actions.AddFile;

import scala.Option;

import java.lang.ref.WeakReference;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Arrays;
import java.util.concurrent.ConcurrentHashMap;

/**
 * What identifies the rows of a version of a Delta table: its files by path, size, modification
 * time and deletion vector, which is the one test of whether files are the same, and its schema.
 * Other versions with the same files have the same rows.
 */
final class DeltaState {
    private static final long MOST_FILES = 100000L;
    private static final ConcurrentHashMap KNOWN = new ConcurrentHashMap();

    private DeltaState() {}

    /** A snapshot that is used again and again is the same object. */
    static final class Known {
        final WeakReference snapshot;
        final String state;

        Known(Snapshot snapshot, String state) {
            this.snapshot = new WeakReference(snapshot);
            this.state = state;
        }
    }

    /** Null for a table of too many files. */
    static String of(Snapshot snapshot) {
        String root = snapshot.dataPath().toString();
        Known before = (Known) KNOWN.get(root);
        if (before != null && before.snapshot.get() == snapshot) {
            return before.state;
        }
        Option count = snapshot.numOfFilesIfKnown();
        boolean many = count.isDefined() && ((Long) count.get()).longValue() > MOST_FILES;
        String state =
                many
                        ? null
                        : of(
                                (AddFile[]) snapshot.allFiles().collect(),
                                snapshot.metadata().schemaString());
        KNOWN.put(root, new Known(snapshot, state));
        return state;
    }

    /** The number of files and a digest of them. */
    static String of(AddFile[] files, String schema) {
        String[] lines = new String[files.length];
        for (int i = 0; i < files.length; i++) {
            AddFile file = files[i];
            lines[i] =
                    file.path()
                            + "\0"
                            + file.size()
                            + "\0"
                            + file.modificationTime()
                            + "\0"
                            + SkipstoneDeltaFiles.vector(file);
        }
        Arrays.sort(lines);
        MessageDigest digest;
        try {
            digest = MessageDigest.getInstance("SHA-256");
        } catch (NoSuchAlgorithmException none) {
            throw new IllegalStateException(none);
        }
        digest.update(schema.getBytes(StandardCharsets.UTF_8));
        for (int i = 0; i < lines.length; i++) {
            digest.update((byte) '\n');
            digest.update(lines[i].getBytes(StandardCharsets.UTF_8));
        }
        byte[] found = digest.digest();
        StringBuilder out = new StringBuilder();
        for (int i = 0; i < 16; i++) {
            out.append(String.format("%02x", new Object[] {Byte.valueOf(found[i])}));
        }
        return files.length + ":" + out;
    }
}
