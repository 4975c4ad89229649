package skipstone;

import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.RemoteIterator;

import java.io.File;
import java.io.FileNotFoundException;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashSet;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Which files are there. A folder is listed once and again when that may have changed: on a local
 * disk when its modification time has, elsewhere after a minute.
 */
final class PresentFiles {
    private static final long NANOS = 60L * 1000L * 1000L * 1000L;

    private final ConcurrentHashMap folders = new ConcurrentHashMap();

    /** The names in a folder at a time. */
    static final class Listing {
        final Set names;
        final long modified;
        final long listedAt;

        Listing(Set names, long modified, long listedAt) {
            this.names = names;
            this.modified = modified;
            this.listedAt = listedAt;
        }
    }

    /** The names of what is in a folder; none if it is absent. */
    Set names(Configuration conf, Path folder) throws Exception {
        FileSystem fs = folder.getFileSystem(conf);
        boolean local = "file".equals(fs.getUri().getScheme());
        File file = local ? new File(folder.toUri().getPath()) : null;
        long modified = local ? file.lastModified() : 0L;
        long now = System.nanoTime();
        Listing before = (Listing) folders.get(folder);
        if (before != null
                && (local ? before.modified == modified : now - before.listedAt < NANOS)) {
            return before.names;
        }
        Set found = local ? list(file) : list(fs, folder);
        folders.put(folder, new Listing(found, modified, now));
        return found;
    }

    private static Set list(File folder) {
        String[] names = folder.list();
        return names == null ? Collections.emptySet() : new HashSet(Arrays.asList(names));
    }

    private static Set list(FileSystem fs, Path folder) throws Exception {
        Set out = new HashSet();
        try {
            RemoteIterator entries = fs.listStatusIterator(folder);
            while (entries.hasNext()) {
                out.add(((FileStatus) entries.next()).getPath().getName());
            }
        } catch (FileNotFoundException absent) {
            return Collections.emptySet();
        }
        return out;
    }
}
