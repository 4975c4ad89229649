package skipstone;

import java.nio.ByteBuffer;
import java.util.BitSet;

/**
 * What Python answers about a scan: which catalog entries are skipped, which horizontal partitions
 * of replicas are read in place of the base files that they cover, and which files of replicas are
 * skipped. Three sets of numbers, each as little-endian bits behind the number of its bytes.
 */
final class ScanAnswer {
    final BitSet skip;
    final BitSet parts;
    final BitSet skipOfReplicas;

    ScanAnswer(byte[] answer) {
        ByteBuffer bytes = ByteBuffer.wrap(answer);
        skip = next(bytes);
        parts = next(bytes);
        skipOfReplicas = next(bytes);
    }

    private static BitSet next(ByteBuffer bytes) {
        byte[] bits = new byte[bytes.getInt()];
        bytes.get(bits);
        return BitSet.valueOf(bits);
    }
}
