package skipstone;

import org.apache.spark.sql.types.MetadataBuilder;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.sql.types.TimestampType;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;

/**
 * The schema under which the files of a table are judged: without columns whose values may come
 * from elsewhere, and with a mark at those that depend on the session.
 */
public final class TableSchema {
    /** Says of a column that its values depend on the session's time zone. */
    private static final String ZONED = "skipstone.zoned";

    private TableSchema() {}

    /** Adds, in lower case, the names of the name=value folders of a path. */
    public static void addPartitionNames(String path, Set names) {
        int start = 0;
        for (int end = path.indexOf('/'); end >= 0; end = path.indexOf('/', start)) {
            int equals = path.indexOf('=', start);
            if (equals > start && equals < end) {
                names.add(path.substring(start, equals).toLowerCase(Locale.ROOT));
            }
            start = end + 1;
        }
    }

    public static Set lowerCase(String[] names) {
        Set out = new HashSet();
        for (int i = 0; i < names.length; i++) {
            out.add(names[i].toLowerCase(Locale.ROOT));
        }
        return out;
    }

    /** The schema without the columns of these lower-case names. */
    public static StructType without(StructType schema, Set names) {
        List kept = new ArrayList();
        StructField[] fields = schema.fields();
        for (int i = 0; i < fields.length; i++) {
            if (!names.contains(fields[i].name().toLowerCase(Locale.ROOT))) {
                kept.add(fields[i]);
            }
        }
        return new StructType((StructField[]) kept.toArray(new StructField[kept.size()]));
    }

    /**
     * The schema with a mark at the timestamps among the partition columns: they are read from
     * text, most of it without a zone, in the session's time zone. Nothing that was seen in one
     * session holds in another.
     */
    public static StructType marked(StructType schema, StructType partitions) {
        Set zoned = new HashSet();
        StructField[] columns = partitions.fields();
        for (int i = 0; i < columns.length; i++) {
            if (columns[i].dataType() instanceof TimestampType) {
                zoned.add(columns[i].name().toLowerCase(Locale.ROOT));
            }
        }
        if (zoned.isEmpty()) {
            return schema;
        }
        StructField[] before = schema.fields();
        StructField[] fields = new StructField[before.length];
        for (int i = 0; i < before.length; i++) {
            boolean mark = zoned.contains(before[i].name().toLowerCase(Locale.ROOT));
            fields[i] = mark ? marked(before[i]) : before[i];
        }
        return new StructType(fields);
    }

    private static StructField marked(StructField field) {
        MetadataBuilder metadata = new MetadataBuilder().withMetadata(field.metadata());
        return new StructField(
                field.name(),
                field.dataType(),
                field.nullable(),
                metadata.putBoolean(ZONED, true).build());
    }

    /** The same as JSON; text is the JSON of the schema as it is. */
    public static String markedJson(String text, StructType schema, StructType partitions) {
        StructType marked = marked(schema, partitions);
        return marked == schema ? text : marked.json();
    }
}
