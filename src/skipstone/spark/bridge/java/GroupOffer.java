package skipstone;

import java.util.BitSet;
import java.util.HashSet;
import java.util.Set;

/**
 * That a scan may be read from column groups, with what was asked about it. The files of the scan
 * are complete by themselves: whoever does not know of the offer reads all rows.
 */
final class GroupOffer {
    final CatalogEntries table;

    /** What was asked about the scan, as JSON. */
    final String question;

    GroupOffer(CatalogEntries table, String question) {
        this.table = table;
        this.question = question;
    }

    /** The paths of the replicas' own files, of some horizontal partitions. */
    Set filesOf(BitSet parts) {
        Set out = new HashSet();
        ReplicaEntries replicas = table.replicas;
        for (int i = 0; i < replicas.paths.length; i++) {
            if (parts.get((int) replicas.partOf[i])) {
                out.add(replicas.paths[i]);
            }
        }
        return out;
    }
}
