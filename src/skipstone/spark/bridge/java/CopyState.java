package skipstone;

import java.util.BitSet;

/**
 * Which horizontal partitions of a table's replicas may be read by one scan: those that hold
 * exactly the rows of base files of the version that is scanned. Some have files of their own that
 * are missing or of another size; of others such are the base files, so that only the replica can
 * be read. These files are known by their number among all that are covered.
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

    /** The same, but that files of some partitions are missing too. */
    CopyState without(BitSet parts) {
        BitSet left = (BitSet) valid.clone();
        left.andNot(parts);
        BitSet gone = (BitSet) missing.clone();
        gone.or(parts);
        BitSet only = (BitSet) baseMissing.clone();
        only.andNot(parts);
        return new CopyState(left, gone, only, lost);
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
