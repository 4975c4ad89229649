package skipstone;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Set;

/**
 * What the catalog knows by file: the position of its entry, and the size and time it was made for.
 */
public final class CatalogEntries {
    final String root;
    long version;
    final HashMap ordinals;
    final long[] sizes;
    final long[] times;

    /** Lower-case names that occur as name=value in the paths. */
    final Set partitions = new HashSet();

    CatalogEntries(String root, String[] paths, long[] sizes, long[] times) {
        this.root = root;
        this.sizes = sizes;
        this.times = times;
        this.ordinals = new HashMap(paths.length * 2);
        for (int i = 0; i < paths.length; i++) {
            this.ordinals.put(paths[i], Integer.valueOf(i));
            TableSchema.addPartitionNames(paths[i], this.partitions);
        }
    }

    public String root() {
        return root;
    }

    /** How many files have an entry. */
    public int size() {
        return sizes.length;
    }

    /** Grows whenever the catalog is read anew. */
    public long version() {
        return version;
    }

    /** The entry's position, or -1 when there is none for exactly this file. */
    public int find(String path, long size, long time) {
        Object found = ordinals.get(path);
        if (found == null) {
            return -1;
        }
        int i = ((Integer) found).intValue();
        return sizes[i] == size && times[i] == time ? i : -1;
    }

    /** Paths are separated by NUL, numbers are big-endian longs. */
    public static CatalogEntries of(String root, byte[] paths, byte[] sizes, byte[] times) {
        String text = new String(paths, StandardCharsets.UTF_8);
        String[] split = text.length() == 0 ? new String[0] : text.split("\0", -1);
        return new CatalogEntries(root, split, longs(sizes), longs(times));
    }

    private static long[] longs(byte[] bytes) {
        long[] out = new long[bytes.length / 8];
        ByteBuffer.wrap(bytes).asLongBuffer().get(out);
        return out;
    }
}
