package skipstone;

import org.apache.spark.sql.delta.actions.AddFile;

import scala.collection.Iterator;
import scala.collection.immutable.Seq;
import scala.collection.mutable.ListBuffer;

import java.util.BitSet;
import java.util.HashSet;
import java.util.Set;

/**
 * Which files of a table are read: its entries that are skipped, and files that a replica covers.
 */
final class SkipstoneDeltaChosen {
    private final CatalogEntries table;
    private final BitSet skip;
    private final Set covered;

    SkipstoneDeltaChosen(CatalogEntries table, BitSet skip, Set covered) {
        this.table = table;
        this.skip = skip;
        this.covered = covered;
    }

    /** The same, with more files whose rows are read elsewhere. */
    SkipstoneDeltaChosen without(Set more) {
        Set all = new HashSet(covered);
        all.addAll(more);
        return new SkipstoneDeltaChosen(table, skip, all);
    }

    /**
     * The files that are not skipped; those that Delta leaves out by itself, if it is known, are
     * not offered.
     */
    Seq keep(Seq files, Set byDelta, DecidedScan scan) {
        ListBuffer kept = new ListBuffer();
        Iterator all = files.iterator();
        while (all.hasNext()) {
            AddFile file = (AddFile) all.next();
            int entry = table.find(file.path(), file.size(), file.modificationTime());
            boolean replaced = covered.contains(file.path());
            boolean skipped = replaced || entry >= 0 && skip.get(entry);
            if (skipped && byDelta != null && !byDelta.contains(file.path())) {
                continue;
            }
            if (replaced) {
                scan.countReplaced(entry, file.size());
            } else if (scan.count(entry, skip, file.size())) {
                kept.addOne(file);
            }
        }
        return kept.toList();
    }
}
