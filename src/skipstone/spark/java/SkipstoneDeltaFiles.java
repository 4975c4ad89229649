package skipstone;

import java.util.BitSet;
import org.apache.spark.sql.classic.Dataset;
import org.apache.spark.sql.classic.SparkSession;
import org.apache.spark.sql.delta.DeltaLog;
import org.apache.spark.sql.delta.Snapshot;
import org.apache.spark.sql.delta.actions.AddFile;
import org.apache.spark.sql.delta.files.TahoeFileIndex;
import org.apache.spark.sql.execution.datasources.LogicalRelation;
import scala.Option;
import scala.Product;

/** The files of a Delta table's newest snapshot. */
public final class SkipstoneDeltaFiles extends SkipstoneFiles {
    private final Snapshot snapshot;
    private final AddFile[] files;

    public SkipstoneDeltaFiles(LogicalRelation scan, TahoeFileIndex index, Snapshot snapshot) {
        super(scan, index.path().toString());
        this.snapshot = snapshot;
        this.files = (AddFile[]) snapshot.allFiles().collect();
        for (int i = 0; i < files.length; i++) {
            String absolute = index.absolutePath(files[i].path()).toString();
            add(files[i].path(), absolute, files[i].size(), files[i].modificationTime());
        }
    }

    public long version() {
        return snapshot.version();
    }

    public String schema() {
        return snapshot.schema().json();
    }

    public String partitionSchema() {
        return snapshot.metadata().partitionSchema().json();
    }

    /** Deletion vectors are left off: a restored table may bring the deleted rows back. */
    public Dataset frame(SparkSession session, byte[] chosen) {
        BitSet wanted = BitSet.valueOf(chosen);
        scala.collection.mutable.ListBuffer some = new scala.collection.mutable.ListBuffer();
        for (int i = wanted.nextSetBit(0); i >= 0; i = wanted.nextSetBit(i + 1)) {
            some.addOne(whole(files[i]));
        }
        // Delta takes whatever session is active; the settings of this one decide how files are split.
        Option before = org.apache.spark.sql.SparkSession.getActiveSession();
        org.apache.spark.sql.SparkSession.setActiveSession(session);
        try {
            DeltaLog log = DeltaLog.forTable(session, snapshot.dataPath());
            return (Dataset) log.createDataFrame(snapshot, some.toList(), false, Option.empty());
        } finally {
            if (before.isDefined()) {
                org.apache.spark.sql.SparkSession.setActiveSession((org.apache.spark.sql.SparkSession) before.get());
            } else {
                org.apache.spark.sql.SparkSession.clearActiveSession();
            }
        }
    }

    /** The file without its deletion vector. By reflection, for Janino cannot compile AddFile's constructor. */
    private static Object whole(AddFile file) {
        try {
            Product product = (Product) file;
            Object[] fields = new Object[product.productArity()];
            for (int i = 0; i < fields.length; i++) {
                fields[i] = product.productElementName(i).equals("deletionVector") ? null : product.productElement(i);
            }
            java.lang.reflect.Constructor[] constructors = AddFile.class.getConstructors();
            for (int i = 0; i < constructors.length; i++) {
                if (constructors[i].getParameterTypes().length == fields.length) {
                    return constructors[i].newInstance(fields);
                }
            }
            throw new IllegalStateException("AddFile has an unexpected shape");
        } catch (ReflectiveOperationException problem) {
            throw new IllegalStateException(problem);
        }
    }
}
