package skipstone;

import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.Path;
import org.apache.spark.sql.catalyst.InternalRow$;
import org.apache.spark.sql.execution.datasources.FileIndex;
import org.apache.spark.sql.execution.datasources.FileStatusWithMetadata;
import org.apache.spark.sql.execution.datasources.PartitionDirectory;
import org.apache.spark.sql.types.StructType;

import scala.Option;
import scala.collection.immutable.Map$;
import scala.collection.immutable.Seq;
import scala.collection.mutable.ListBuffer;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** The files of one column group; which parts of them are read is said elsewhere. */
final class GroupFiles implements FileIndex {
    private final Path root;
    private final List files = new ArrayList();
    private final List paths = new ArrayList();
    private long size;

    /**
     * @param group what Python says about a group: "paths" below the root, "sizes" and "times"
     */
    GroupFiles(Path root, Map group) {
        this.root = root;
        List names = (List) group.get("paths");
        List sizes = (List) group.get("sizes");
        List times = (List) group.get("times");
        for (int i = 0; i < names.size(); i++) {
            long length = ((Number) sizes.get(i)).longValue();
            long time = ((Number) times.get(i)).longValue();
            Path path = new Path(root, (String) names.get(i));
            files.add(new FileStatus(length, false, 1, 0L, time, path));
            paths.add(path);
            size += length;
        }
    }

    /** What the query log says of the scan that groups are read for; of one of them only. */
    GroupedScan logged;

    /** The path of a file, by its number. */
    Path path(int number) {
        return (Path) paths.get(number);
    }

    public Seq listFiles(Seq partitionFilters, Seq dataFilters) {
        ListBuffer out = new ListBuffer();
        scala.collection.immutable.Map none = (scala.collection.immutable.Map) Map$.MODULE$.empty();
        for (int i = 0; i < files.size(); i++) {
            out.addOne(new FileStatusWithMetadata((FileStatus) files.get(i), none));
        }
        return ScalaSeq.of(new PartitionDirectory(InternalRow$.MODULE$.empty(), out.toList()));
    }

    public Seq rootPaths() {
        return ScalaSeq.of(root);
    }

    public String[] inputFiles() {
        String[] out = new String[paths.size()];
        for (int i = 0; i < out.length; i++) {
            out[i] = path(i).toUri().toString();
        }
        return out;
    }

    public void refresh() {}

    public long sizeInBytes() {
        return size;
    }

    public StructType partitionSchema() {
        return new StructType();
    }

    public Option metadataOpsTimeNs() {
        return Option.empty();
    }

    public boolean equals(Object other) {
        return other instanceof GroupFiles && ((GroupFiles) other).paths.equals(paths);
    }

    public int hashCode() {
        return paths.hashCode();
    }

    public String toString() {
        return "SkipstoneGroup[" + root + "]";
    }
}
