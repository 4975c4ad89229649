package skipstone;

import java.util.BitSet;

/**
 * Which horizontal partitions of a table's replicas may be read by one scan: those that hold
 * exactly the rows of base files of the version that is scanned. Some have missing files of their
 * own; of others the base files are missing, so that only the replica can be read. These files are
 * known by their number among all that are covered.
 */
final class CopyState {
    final BitSet valid;
    final BitSet missing;
    final BitSet baseMissing;
    final BitSet lost;

    CopyState(BitSet valid, BitSet missing, BitSet baseMissing, BitSet lost) {
        this.valid = valid;
        this.missing = missing;
        this.baseMissing = baseMissing;
        this.lost = lost;
    }

    String json() {
        return "{\"valid\":"
                + numbers(valid)
                + ",\"missing\":"
                + numbers(missing)
                + ",\"base_missing\":"
                + numbers(baseMissing)
                + ",\"lost\":"
                + numbers(lost)
                + "}";
    }

    static String numbers(BitSet set) {
        StringBuilder out = new StringBuilder("[");
        for (int i = set.nextSetBit(0); i >= 0; i = set.nextSetBit(i + 1)) {
            out.append(out.length() == 1 ? "" : ",").append(i);
        }
        return out.append("]").toString();
    }
}
