package skipstone;

import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.RemoteIterator;

import java.io.File;
import java.io.FileNotFoundException;
import java.util.Collections;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Which files are there. A folder is listed once and again when that may have changed: on a local
 * disk when its modification time has, elsewhere after a minute. Elsewhere a listing has sizes too;
 * on a local disk they would have to be asked for file by file.
 */
final class PresentFiles {
    private static final long NANOS = 60L * 1000L * 1000L * 1000L;

    private final ConcurrentHashMap folders = new ConcurrentHashMap();

    /** The files in a folder at a time. */
    static final class Listing {
        final Map sizes;
        final long modified;
        final long listedAt;

        Listing(Map sizes, long modified, long listedAt) {
            this.sizes = sizes;
            this.modified = modified;
            this.listedAt = listedAt;
        }
    }

    /**
     * The names of what is in a folder, none if it is absent, and the size of each in bytes; null
     * where that is not known.
     */
    Map sizes(Configuration conf, Path folder) throws Exception {
        FileSystem fs = folder.getFileSystem(conf);
        boolean local = isLocal(fs);
        File file = local ? new File(folder.toUri().getPath()) : null;
        long modified = local ? file.lastModified() : 0L;
        long now = System.nanoTime();
        Listing before = (Listing) folders.get(folder);
        if (before != null
                && (local ? before.modified == modified : now - before.listedAt < NANOS)) {
            return before.sizes;
        }
        Map found = local ? list(file) : list(fs, folder);
        folders.put(folder, new Listing(found, modified, now));
        return found;
    }

    /** The path of a folder on a local disk; null for another one. */
    static String localPath(Configuration conf, Path folder) throws Exception {
        return isLocal(folder.getFileSystem(conf)) ? folder.toUri().getPath() : null;
    }

    private static boolean isLocal(FileSystem fs) {
        return "file".equals(fs.getUri().getScheme());
    }

    private static Map list(File folder) {
        String[] names = folder.list();
        Map out = new HashMap();
        for (int i = 0; names != null && i < names.length; i++) {
            out.put(names[i], null);
        }
        return out;
    }

    private static Map list(FileSystem fs, Path folder) throws Exception {
        Map out = new HashMap();
        try {
            RemoteIterator entries = fs.listStatusIterator(folder);
            while (entries.hasNext()) {
                FileStatus entry = (FileStatus) entries.next();
                out.put(entry.getPath().getName(), Long.valueOf(entry.getLen()));
            }
        } catch (FileNotFoundException absent) {
            return Collections.emptyMap();
        }
        return out;
    }
}
