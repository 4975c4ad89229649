package skipstone;

import java.util.BitSet;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Set;

/**
 * The horizontal partitions of a table's replicas, by number: the base files whose live rows each
 * holds, and its own files.
 */
public final class ReplicaEntries {
    private static final int MOST_VERSIONS = 32;

    static final String[] NONE = new String[0];

    /** The replica of each horizontal partition. */
    String[] names = NONE;

    /** The base files, each as often as it is covered, and the horizontal partition of each. */
    String[] covered = NONE;

    long[] coveredSizes = new long[0];
    long[] coveredTimes = coveredSizes;
    String[] coveredVectors = covered;
    long[] coveredBy = coveredSizes;

    /** The replicas' own files, in the order of their catalog, and the partition of each. */
    String[] paths = covered;

    long[] sizes = coveredSizes;
    long[] times = coveredSizes;

    /** The values of the table's partition columns in each file, as JSON. */
    String[] partitionValues = covered;

    long[] partOf = coveredSizes;

    /** Partitions of which base files are known to be damaged. */
    BitSet damaged = new BitSet();

    /** Partitions that are stored by column groups; their files are not those of whole rows. */
    BitSet grouped = new BitSet();

    /** What an adapter made of the files for its kind of table. */
    volatile Object made;

    /** Which of the replicas' own files, and of the base files, are there; made by an adapter. */
    volatile Object ownThere;

    volatile Object baseThere;

    /** By version of the table, which partitions hold its rows; made by an adapter. */
    final Map validity = Collections.synchronizedMap(new Newest());

    public ReplicaEntries() {}

    /** Texts are separated by NUL, numbers are big-endian longs. */
    public void cover(byte[] files, byte[] bytes, byte[] modified, byte[] vectors, byte[] parts) {
        coveredSizes = CatalogEntries.longs(bytes);
        coveredTimes = CatalogEntries.longs(modified);
        coveredBy = CatalogEntries.longs(parts);
        covered = CatalogEntries.texts(files, coveredSizes.length);
        coveredVectors = CatalogEntries.texts(vectors, coveredSizes.length);
    }

    /** The same for the replicas' own files. */
    public void hold(byte[] files, byte[] bytes, byte[] modified, byte[] values, byte[] parts) {
        sizes = CatalogEntries.longs(bytes);
        times = CatalogEntries.longs(modified);
        partOf = CatalogEntries.longs(parts);
        paths = CatalogEntries.texts(files, sizes.length);
        partitionValues = CatalogEntries.texts(values, sizes.length);
    }

    /** Little-endian bits of the partitions of which base files are known to be damaged. */
    public void damage(byte[] parts) {
        damaged = BitSet.valueOf(parts);
    }

    /** Little-endian bits of the partitions that are stored by column groups. */
    public void group(byte[] parts) {
        grouped = BitSet.valueOf(parts);
    }

    /** The ids of the replicas of horizontal partitions, for each of these, separated by NUL. */
    public void name(byte[] replicas, int count) {
        names = CatalogEntries.texts(replicas, count);
    }

    /** How many horizontal partitions there are. */
    int parts() {
        return names.length;
    }

    /**
     * The partitions among some of which a file has another size on a local disk than when it was
     * written; only files that are not skipped are looked at, for that takes some microseconds
     * each.
     */
    BitSet resized(BitSet parts, BitSet skip) {
        BitSet read = new BitSet();
        for (int i = 0; i < paths.length; i++) {
            read.set(i, parts.get((int) partOf[i]) && !skip.get(i));
        }
        BitSet out = new BitSet();
        BitSet found = ((FilesThere) ownThere).resized(read);
        for (int i = found.nextSetBit(0); i >= 0; i = found.nextSetBit(i + 1)) {
            out.set((int) partOf[i]);
        }
        return out;
    }

    /** The ids of the replicas that some horizontal partitions belong to. */
    String[] replicasOf(BitSet parts) {
        Set out = new LinkedHashSet();
        for (int i = parts.nextSetBit(0); i >= 0; i = parts.nextSetBit(i + 1)) {
            out.add(names[i]);
        }
        return (String[]) out.toArray(new String[out.size()]);
    }

    /** Remembers what was asked for last. */
    static final class Newest extends LinkedHashMap {
        private static final long serialVersionUID = 1L;

        Newest() {
            super(MOST_VERSIONS, 0.75f, true);
        }

        protected boolean removeEldestEntry(Map.Entry eldest) {
            return size() > MOST_VERSIONS;
        }
    }
}
