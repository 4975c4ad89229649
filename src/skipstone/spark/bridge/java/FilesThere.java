package skipstone;

import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;

import java.net.URI;
import java.util.BitSet;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;

/**
 * Which of some files are missing. Their folders are looked at each time, which is cheap as long as
 * they do not change; the files only when the listing of a folder is another one than before.
 */
final class FilesThere {
    private final PresentFiles present;
    private final Path[] folders;
    private final int[] folderOf;
    private final String[] names;

    private Set[] listed;
    private BitSet missing;

    /**
     * @param paths those of a log, which are those of a URI: relative to the root, or absolute
     */
    FilesThere(PresentFiles present, Path root, String[] paths) {
        this.present = present;
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
        for (int i = 0; i < folders.length; i++) {
            Path path = above[i].length() == 0 ? root : new Path(URI.create(above[i]));
            folders[i] = path.isAbsolute() ? path : new Path(root, path);
        }
    }

    /** The numbers of the files that are not there; never changed once it is returned. */
    synchronized BitSet missing(Configuration conf) throws Exception {
        Set[] found = new Set[folders.length];
        boolean same = listed != null;
        for (int i = 0; i < found.length; i++) {
            found[i] = present.names(conf, folders[i]);
            same = same && found[i] == listed[i];
        }
        if (!same) {
            BitSet out = new BitSet();
            for (int i = 0; i < names.length; i++) {
                if (!found[folderOf[i]].contains(names[i])) {
                    out.set(i);
                }
            }
            missing = out;
            listed = found;
        }
        return missing;
    }
}
