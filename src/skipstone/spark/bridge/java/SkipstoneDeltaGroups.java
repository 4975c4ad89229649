package skipstone;

import org.apache.spark.sql.delta.DeltaColumnMapping$;
import org.apache.spark.sql.delta.actions.AddFile;
import org.apache.spark.sql.delta.actions.Metadata;
import org.apache.spark.sql.delta.stats.DataSize;
import org.apache.spark.sql.delta.stats.DeltaScan;
import org.apache.spark.sql.types.ArrayType;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.MapType;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.StructType;

import scala.Option;
import scala.collection.Iterator;
import scala.collection.immutable.Seq;
import scala.collection.mutable.ListBuffer;

import java.util.Arrays;
import java.util.BitSet;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** Scans of Delta tables of which some rows are read from column groups. */
final class SkipstoneDeltaGroups {
    private SkipstoneDeltaGroups() {}

    /**
     * What a scan may read of column groups; null if no horizontal partition that is stored by them
     * holds rows of it, or if it reads nothing anyway.
     */
    static GroupOffer offer(CatalogEntries table, DecidedScan scan, DeltaScan before) {
        if (scan.copies == null || table.replicas == null || before.files().isEmpty()) {
            return null;
        }
        BitSet usable = (BitSet) scan.copies.valid.clone();
        usable.and(table.replicas.grouped);
        if (usable.isEmpty()) {
            return null;
        }
        scan.mayReadGroups = true;
        return new GroupOffer(table, scan.question);
    }

    /** The files that are read beside groups. */
    static Seq beside(DeltaScan scan, Set covered, Set copies) {
        ListBuffer kept = new ListBuffer();
        Iterator files = scan.files().iterator();
        while (files.hasNext()) {
            AddFile file = (AddFile) files.next();
            if (!covered.contains(file.path()) && !copies.contains(file.path())) {
                kept.addOne(file);
            }
        }
        return kept.toList();
    }

    /** The same scan of other files. */
    static DeltaScan reading(DeltaScan scan, Seq files) {
        DataSize size =
                new DataSize(
                        Option.empty(),
                        Option.empty(),
                        Option.apply(Long.valueOf(files.size())),
                        Option.empty());
        return reading(scan, files, size);
    }

    /** The same scan of other files, whose size is known. */
    static DeltaScan reading(DeltaScan scan, Seq files, DataSize size) {
        return new DeltaScan(
                scan.version(),
                files,
                scan.total(),
                scan.partition(),
                size,
                scan.scannedSnapshot(),
                scan.partitionFilters(),
                scan.dataFilters(),
                scan.partitionLikeDataFilters(),
                scan.rewrittenPartitionLikeDataFilters(),
                scan.unusedFilters(),
                scan.scanDurationMs(),
                scan.dataSkippingType());
    }

    /** Some replicas, and those whose groups are read. */
    static String[] replicas(String[] some, GroupAsker.GroupAnswer answer) {
        Set out = new LinkedHashSet(Arrays.asList(some));
        for (int i = 0; i < answer.reads.size(); i++) {
            out.add(((Map) answer.reads.get(i)).get("replica"));
        }
        return (String[]) out.toArray(new String[out.size()]);
    }

    /** Columns as they are stored, by their names in the scanned version. */
    static StructType stored(DeltaScan scan, StructType columns) {
        Metadata metadata = scan.scannedSnapshot().metadata();
        Object found =
                DeltaColumnMapping$.MODULE$.createPhysicalSchema(
                        columns, metadata.schema(), metadata.columnMappingMode(), true);
        return (StructType) plain((StructType) found);
    }

    /** The type without what is said about its fields, such as numbers to find columns by. */
    private static DataType plain(DataType type) {
        if (type instanceof StructType) {
            StructType out = new StructType();
            StructField[] fields = ((StructType) type).fields();
            for (int i = 0; i < fields.length; i++) {
                out = out.add(fields[i].name(), plain(fields[i].dataType()), fields[i].nullable());
            }
            return out;
        }
        if (type instanceof ArrayType) {
            ArrayType array = (ArrayType) type;
            return new ArrayType(plain(array.elementType()), array.containsNull());
        }
        if (type instanceof MapType) {
            MapType map = (MapType) type;
            return new MapType(
                    plain(map.keyType()), plain(map.valueType()), map.valueContainsNull());
        }
        return type;
    }

    /** Puts the figures of a scan that reads groups in the place of those of the scan before. */
    static void count(
            DecidedScan record,
            GroupAsker.GroupAnswer answer,
            ReplicaEntries replicas,
            Seq before,
            Seq after) {
        Set left = new HashSet();
        Iterator files = after.iterator();
        while (files.hasNext()) {
            left.add(((AddFile) files.next()).path());
        }
        Iterator all = before.iterator();
        while (all.hasNext()) {
            AddFile file = (AddFile) all.next();
            if (left.contains(file.path())) {
                continue;
            }
            if (file.path().startsWith(SkipstoneDelta.REPLICAS.substring(1))) {
                record.replicaFilesKept--;
                record.replicaBytesKept -= file.size();
            } else {
                record.filesKept--;
                record.bytesKept -= file.size();
                record.filesReplaced++;
                record.bytesReplaced += file.size();
                if (record.table.find(file.path(), file.size(), file.modificationTime()) < 0) {
                    record.filesUnindexed--;
                    record.bytesUnindexed -= file.size();
                }
            }
        }
        BitSet parts = (BitSet) record.parts.clone();
        parts.andNot(answer.replaced);
        parts.or(answer.chosen);
        record.parts = parts;
        for (int i = 0; i < replicas.paths.length; i++) {
            if (answer.chosen.get((int) replicas.partOf[i])) {
                record.replicaFiles++;
            }
        }
        for (int i = 0; i < answer.reads.size(); i++) {
            List groups = (List) ((Map) answer.reads.get(i)).get("groups");
            for (int j = 0; j < groups.size(); j++) {
                Map group = (Map) groups.get(j);
                record.replicaFilesKept += ((List) group.get("paths")).size();
                record.replicaBytesKept += ((Number) group.get("bytes")).longValue();
            }
        }
    }
}
