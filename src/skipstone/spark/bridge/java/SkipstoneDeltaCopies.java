package skipstone;

import com.fasterxml.jackson.databind.ObjectMapper;

import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;
import org.apache.spark.sql.delta.Snapshot;
import org.apache.spark.sql.delta.actions.AddFile;

import scala.Option;
import scala.Product;
import scala.collection.mutable.ListBuffer;

import java.net.URI;
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
        Path root = snapshot.dataPath();
        BitSet missing = new BitSet();
        BitSet baseMissing = (BitSet) replicas.damaged.clone();
        mark(replicas.paths, replicas.partOf, valid, root, conf, missing);
        BitSet usable = (BitSet) valid.clone();
        usable.andNot(missing);
        mark(replicas.covered, replicas.coveredBy, usable, root, conf, baseMissing);
        baseMissing.and(usable);
        return new CopyState(usable, missing, baseMissing);
    }

    /** Adds the partitions of interest that have a file which is not there. */
    private void mark(
            String[] paths,
            long[] parts,
            BitSet interesting,
            Path root,
            Configuration conf,
            BitSet missing)
            throws Exception {
        String folder = null;
        Set names = null;
        for (int i = 0; i < paths.length; i++) {
            int part = (int) parts[i];
            if (!interesting.get(part) || missing.get(part)) {
                continue;
            }
            // Paths of a log are those of a URI.
            int cut = paths[i].lastIndexOf('/');
            String above = cut < 0 ? "" : paths[i].substring(0, cut);
            if (!above.equals(folder)) {
                folder = above;
                Path path = above.length() == 0 ? root : new Path(URI.create(above));
                names = present.names(conf, path.isAbsolute() ? path : new Path(root, path));
            }
            String name = paths[i].substring(cut + 1);
            if (!names.contains(name.indexOf('%') < 0 ? name : URI.create(name).getPath())) {
                missing.set(part);
            }
        }
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
