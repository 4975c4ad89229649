package skipstone;

import com.fasterxml.jackson.databind.ObjectMapper;

import org.apache.hadoop.conf.Configuration;
import org.apache.spark.sql.delta.Snapshot;
import org.apache.spark.sql.delta.actions.AddFile;

import scala.Option;
import scala.Product;
import scala.collection.mutable.ListBuffer;

import java.util.BitSet;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;

/**
 * Replicas of Delta tables: which of their horizontal partitions hold exactly the rows of files
 * that a snapshot has, and their files as Delta reads them.
 */
final class SkipstoneDeltaCopies {
    private static final ObjectMapper JSON = new ObjectMapper();

    private final PresentFiles present = new PresentFiles();

    /** What one scan may read of the replicas. Its files may be some of the snapshot's. */
    CopyState state(ReplicaEntries replicas, Snapshot snapshot, Configuration conf)
            throws Exception {
        BitSet valid = valid(replicas, snapshot);
        BitSet missing = new BitSet();
        BitSet own = there(replicas, snapshot, true).missing(conf);
        for (int i = own.nextSetBit(0); i >= 0; i = own.nextSetBit(i + 1)) {
            missing.set((int) replicas.partOf[i]);
        }
        missing.and(valid);
        BitSet usable = (BitSet) valid.clone();
        usable.andNot(missing);
        BitSet baseMissing = (BitSet) replicas.damaged.clone();
        BitSet lost = new BitSet();
        BitSet base = there(replicas, snapshot, false).missing(conf);
        for (int i = base.nextSetBit(0); i >= 0; i = base.nextSetBit(i + 1)) {
            if (usable.get((int) replicas.coveredBy[i])) {
                baseMissing.set((int) replicas.coveredBy[i]);
                lost.set(i);
            }
        }
        baseMissing.and(usable);
        return new CopyState(usable, missing, baseMissing, lost);
    }

    /** Which of the replicas' own files, or of the base files that they cover, are there. */
    private FilesThere there(ReplicaEntries replicas, Snapshot snapshot, boolean own) {
        FilesThere before = (FilesThere) (own ? replicas.ownThere : replicas.baseThere);
        if (before != null) {
            return before;
        }
        FilesThere made =
                new FilesThere(
                        present,
                        snapshot.dataPath(),
                        own ? replicas.paths : replicas.covered,
                        own ? replicas.sizes : replicas.coveredSizes);
        if (own) {
            replicas.ownThere = made;
        } else {
            replicas.baseThere = made;
        }
        return made;
    }

    private static BitSet valid(ReplicaEntries replicas, Snapshot snapshot) {
        String version = snapshot.metadata().id() + ":" + snapshot.version();
        BitSet before = (BitSet) replicas.validity.get(version);
        if (before != null) {
            return before;
        }
        Map files = new HashMap();
        AddFile[] all = (AddFile[]) snapshot.allFiles().collect();
        for (int i = 0; i < all.length; i++) {
            files.put(all[i].path(), all[i]);
        }
        BitSet valid = new BitSet();
        valid.set(0, replicas.parts());
        for (int i = 0; i < replicas.covered.length; i++) {
            AddFile file = (AddFile) files.get(replicas.covered[i]);
            boolean same =
                    file != null
                            && file.size() == replicas.coveredSizes[i]
                            && file.modificationTime() == replicas.coveredTimes[i]
                            && SkipstoneDeltaFiles.vector(file).equals(replicas.coveredVectors[i]);
            if (!same) {
                valid.clear((int) replicas.coveredBy[i]);
            }
        }
        replicas.validity.put(version, valid);
        return valid;
    }

    /** The paths of the base files that some horizontal partitions cover. */
    static Set covered(ReplicaEntries replicas, BitSet parts) {
        Set out = new HashSet();
        for (int i = 0; i < replicas.covered.length; i++) {
            if (parts.get((int) replicas.coveredBy[i])) {
                out.add(replicas.covered[i]);
            }
        }
        return out;
    }

    /** Adds the files of some horizontal partitions that are not skipped. */
    static void add(
            ReplicaEntries replicas,
            ScanAnswer answer,
            AddFile like,
            ListBuffer out,
            DecidedScan scan)
            throws Exception {
        AddFile[] files = files(replicas, like);
        for (int i = 0; i < files.length; i++) {
            if (answer.parts.get((int) replicas.partOf[i])) {
                boolean kept = !answer.skipOfReplicas.get(i);
                scan.countReplica(kept, files[i].size());
                if (kept) {
                    out.addOne(files[i]);
                }
            }
        }
    }

    /**
     * All files of replicas as Delta's own, made once; another file of the table shows what else
     * they have.
     */
    static AddFile[] files(ReplicaEntries replicas, AddFile like) throws Exception {
        AddFile[] before = (AddFile[]) replicas.made;
        if (before != null) {
            return before;
        }
        Map changes = new HashMap();
        Product product = (Product) like;
        for (int i = 0; i < product.productArity(); i++) {
            if (product.productElement(i) instanceof Option) {
                changes.put(product.productElementName(i), Option.empty());
            }
        }
        changes.put("stats", null);
        changes.put("tags", null);
        changes.put("deletionVector", null);
        changes.put("dataChange", Boolean.FALSE);
        AddFile[] made = new AddFile[replicas.paths.length];
        for (int i = 0; i < made.length; i++) {
            changes.put("path", replicas.paths[i]);
            changes.put("size", Long.valueOf(replicas.sizes[i]));
            changes.put("modificationTime", Long.valueOf(replicas.times[i]));
            changes.put("partitionValues", partitionValues(replicas.partitionValues[i]));
            made[i] = SkipstoneDeltaFiles.with(like, changes);
        }
        replicas.made = made;
        return made;
    }

    private static scala.collection.immutable.Map partitionValues(String json) throws Exception {
        scala.collection.immutable.Map out =
                (scala.collection.immutable.Map) scala.collection.immutable.Map$.MODULE$.empty();
        if (json.length() > 0) {
            Object read = JSON.readValue(json, Map.class);
            java.util.Iterator values = ((Map) read).entrySet().iterator();
            while (values.hasNext()) {
                Map.Entry value = (Map.Entry) values.next();
                out =
                        (scala.collection.immutable.Map)
                                out.updated(value.getKey(), value.getValue());
            }
        }
        return out;
    }
}
