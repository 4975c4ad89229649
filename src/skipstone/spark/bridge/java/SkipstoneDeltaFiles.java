package skipstone;

import org.apache.hadoop.fs.Path;
import org.apache.spark.sql.classic.Dataset;
import org.apache.spark.sql.classic.SparkSession;
import org.apache.spark.sql.delta.DeltaLog;
import org.apache.spark.sql.delta.Snapshot;
import org.apache.spark.sql.delta.actions.AddFile;
import org.apache.spark.sql.delta.actions.DeletionVectorDescriptor;
import org.apache.spark.sql.delta.actions.Metadata;
import org.apache.spark.sql.delta.implicits.package$;

import scala.Option;
import scala.Product;
import scala.collection.mutable.ListBuffer;

import java.net.URI;
import java.util.BitSet;
import java.util.Map;
import java.util.TreeMap;

/** Files of a Delta table: those of a snapshot, or some that are written but not committed yet. */
public final class SkipstoneDeltaFiles extends SkipstoneFiles {
    private final Snapshot snapshot;
    private final AddFile[] files;

    public SkipstoneDeltaFiles(Snapshot snapshot, AddFile[] files) {
        super(null, snapshot.dataPath().toString());
        this.snapshot = snapshot;
        this.files = files;
        for (int i = 0; i < files.length; i++) {
            Path path = new Path(URI.create(files[i].path()));
            String absolute =
                    (path.isAbsolute() ? path : new Path(snapshot.dataPath(), path)).toString();
            add(files[i].path(), absolute, files[i].size(), files[i].modificationTime());
        }
    }

    public static SkipstoneDeltaFiles newest(DeltaLog log) {
        Snapshot snapshot = log.update(false, Option.empty(), Option.empty());
        return new SkipstoneDeltaFiles(snapshot, filesOf(snapshot));
    }

    /**
     * All files of a snapshot. Delta's own {@code allFiles} has Spark analyse the types of all
     * actions of its log; here it does so for files only, which takes two thirds of the time.
     */
    private static AddFile[] filesOf(Snapshot snapshot) {
        Dataset state = (Dataset) snapshot.stateDF();
        Dataset added = state.where("add IS NOT NULL").select("add.*", new String[0]);
        return (AddFile[]) added.as(package$.MODULE$.addFileEncoder()).collect();
    }

    /** The files of replicas, all of them, as files of this version of the table. */
    public SkipstoneDeltaFiles ofReplicas(ReplicaEntries replicas) throws Exception {
        return new SkipstoneDeltaFiles(snapshot, SkipstoneDeltaCopies.files(replicas, files[0]));
    }

    public Snapshot snapshot() {
        return snapshot;
    }

    public AddFile file(int index) {
        return files[index];
    }

    public long version() {
        return snapshot.version();
    }

    /**
     * Where the vector is stored, and how many rows it deletes. One that is stored inline is its
     * own bytes.
     */
    protected String vector(int index) {
        return vector(files[index]);
    }

    static String vector(AddFile file) {
        DeletionVectorDescriptor vector = file.deletionVector();
        return vector == null ? "" : vector.uniqueId() + ":" + vector.cardinality();
    }

    /** What identifies the rows of this version of the table. */
    public String state() {
        return DeltaState.of(files, snapshot.metadata().schemaString());
    }

    public String schema() {
        Metadata metadata = snapshot.metadata();
        return TableSchema.markedJson(
                metadata.schemaString(), metadata.schema(), metadata.partitionSchema());
    }

    public String partitionSchema() {
        return snapshot.metadata().partitionSchema().json();
    }

    /**
     * The partition that each file belongs to, as JSON of its values; the same text for the same
     * partition.
     */
    public byte[] partitions() throws Exception {
        String[] out = new String[files.length];
        for (int i = 0; i < files.length; i++) {
            Map values = new TreeMap();
            scala.collection.Iterator entries = files[i].partitionValues().iterator();
            while (entries.hasNext()) {
                scala.Tuple2 entry = (scala.Tuple2) entries.next();
                values.put(entry._1(), entry._2());
            }
            out[i] = CatalystJson.text(values);
        }
        return joined(out);
    }

    /** Deletion vectors are left off: a restored table may bring the deleted rows back. */
    public Dataset frame(SparkSession session, byte[] chosen) {
        return read(session, chosen, true);
    }

    /** The rows that the table has in the chosen files now. */
    public Dataset live(SparkSession session, byte[] chosen) {
        return read(session, chosen, false);
    }

    /**
     * How many rows the table has in the chosen files, by Delta's log; -1 if it does not say so of
     * each.
     */
    public long rows(byte[] chosen) {
        BitSet wanted = BitSet.valueOf(chosen);
        long total = 0L;
        for (int i = wanted.nextSetBit(0); i >= 0; i = wanted.nextSetBit(i + 1)) {
            Option rows = files[i].numLogicalRecords();
            if (rows.isEmpty()) {
                return -1L;
            }
            total += ((Long) rows.get()).longValue();
        }
        return total;
    }

    private Dataset read(SparkSession session, byte[] chosen, boolean deletedToo) {
        BitSet wanted = BitSet.valueOf(chosen);
        ListBuffer some = new ListBuffer();
        for (int i = wanted.nextSetBit(0); i >= 0; i = wanted.nextSetBit(i + 1)) {
            some.addOne(deletedToo ? with(files[i], "deletionVector", null) : files[i]);
        }
        // Delta takes whatever session is active; the settings of this one decide how files are
        // split.
        Option before = ActiveSession.swap(session);
        try {
            DeltaLog log = DeltaLog.forTable(session, snapshot.dataPath());
            // The name keeps these scans out of the query log.
            return (Dataset)
                    log.createDataFrame(snapshot, some.toList(), false, Option.apply("skipstone"));
        } finally {
            ActiveSession.restore(before);
        }
    }

    /** A copy with one field changed. */
    public static AddFile with(AddFile file, String name, Object value) {
        Map change = new TreeMap();
        change.put(name, value);
        return with(file, change);
    }

    /**
     * A copy with some fields changed, by their names. By reflection, for Janino cannot compile
     * calls of AddFile's constructor.
     */
    static AddFile with(AddFile file, Map changes) {
        try {
            Product product = (Product) file;
            Object[] fields = new Object[product.productArity()];
            for (int i = 0; i < fields.length; i++) {
                String name = product.productElementName(i);
                fields[i] =
                        changes.containsKey(name) ? changes.get(name) : product.productElement(i);
            }
            java.lang.reflect.Constructor[] constructors = AddFile.class.getConstructors();
            for (int i = 0; i < constructors.length; i++) {
                if (constructors[i].getParameterTypes().length == fields.length) {
                    return (AddFile) constructors[i].newInstance(fields);
                }
            }
            throw new IllegalStateException("AddFile has an unexpected shape");
        } catch (ReflectiveOperationException problem) {
            throw new IllegalStateException(problem);
        }
    }
}
