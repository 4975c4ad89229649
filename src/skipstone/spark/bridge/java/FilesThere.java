package skipstone;

import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;

import java.io.File;
import java.net.URI;
import java.util.BitSet;
import java.util.HashMap;
import java.util.Map;

/**
 * Which of some files are missing, or have another size than when they were written. Their folders
 * are looked at each time, which is cheap as long as they do not change; the files only when the
 * listing of a folder is another one than before.
 *
 * <p>A listing of a local folder has no sizes, and a file that is shortened or overwritten leaves
 * the folder as it was. So local files are looked at one by one, and only those that are read.
 */
final class FilesThere {
    private final PresentFiles present;
    private final Path[] folders;
    private final int[] folderOf;
    private final String[] names;
    private final long[] sizes;

    /** The path of each folder on a local disk; null elsewhere, and before it was listed. */
    private final String[] local;

    private Map[] listed;
    private BitSet missing;

    /**
     * @param paths those of a log, which are those of a URI: relative to the root, or absolute
     * @param sizes in bytes
     */
    FilesThere(PresentFiles present, Path root, String[] paths, long[] sizes) {
        this.present = present;
        this.sizes = sizes;
        this.folderOf = new int[paths.length];
        this.names = new String[paths.length];
        Map numbers = new HashMap();
        String[] above = new String[paths.length];
        for (int i = 0; i < paths.length; i++) {
            int cut = paths[i].lastIndexOf('/');
            String folder = cut < 0 ? "" : paths[i].substring(0, cut);
            Integer number = (Integer) numbers.get(folder);
            if (number == null) {
                number = Integer.valueOf(numbers.size());
                above[number.intValue()] = folder;
                numbers.put(folder, number);
            }
            folderOf[i] = number.intValue();
            String name = paths[i].substring(cut + 1);
            names[i] = name.indexOf('%') < 0 ? name : URI.create(name).getPath();
        }
        this.folders = new Path[numbers.size()];
        this.local = new String[numbers.size()];
        for (int i = 0; i < folders.length; i++) {
            Path path = above[i].length() == 0 ? root : new Path(URI.create(above[i]));
            folders[i] = path.isAbsolute() ? path : new Path(root, path);
        }
    }

    /**
     * The numbers of the files that are not there, or are listed with another size; never changed
     * once it is returned.
     */
    synchronized BitSet missing(Configuration conf) throws Exception {
        Map[] found = new Map[folders.length];
        boolean same = listed != null;
        for (int i = 0; i < found.length; i++) {
            found[i] = present.sizes(conf, folders[i]);
            if (listed == null) {
                local[i] = PresentFiles.localPath(conf, folders[i]);
            }
            same = same && found[i] == listed[i];
        }
        if (!same) {
            BitSet out = new BitSet();
            for (int i = 0; i < names.length; i++) {
                Map folder = found[folderOf[i]];
                Long size = (Long) folder.get(names[i]);
                if (size == null ? !folder.containsKey(names[i]) : size.longValue() != sizes[i]) {
                    out.set(i);
                }
            }
            missing = out;
            listed = found;
        }
        return missing;
    }

    /** Those of some files that are on a local disk and have another size there now. */
    synchronized BitSet resized(BitSet some) {
        BitSet out = new BitSet();
        for (int i = some.nextSetBit(0); i >= 0; i = some.nextSetBit(i + 1)) {
            String folder = local[folderOf[i]];
            if (folder != null && new File(folder, names[i]).length() != sizes[i]) {
                out.set(i);
            }
        }
        return out;
    }
}
