package skipstone;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Collections;
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

    /** Further copies of the table's rows; null if there are none. */
    ReplicaEntries replicas;

    /** Whether there are joined replicas with this table in the middle. */
    volatile boolean joined;

    /** The roots of the tables that features are about through joins. */
    volatile Set partners = Collections.emptySet();

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
        long[] known = longs(sizes);
        return new CatalogEntries(root, texts(paths, known.length), known, longs(times));
    }

    /** So many texts with a NUL between them. */
    static String[] texts(byte[] bytes, int count) {
        String[] found =
                count == 0
                        ? new String[0]
                        : new String(bytes, StandardCharsets.UTF_8).split("\0", -1);
        if (found.length != count) {
            throw new IllegalArgumentException(found.length + " texts and not " + count);
        }
        return found;
    }

    static long[] longs(byte[] bytes) {
        long[] out = new long[bytes.length / 8];
        ByteBuffer.wrap(bytes).asLongBuffer().get(out);
        return out;
    }
}
