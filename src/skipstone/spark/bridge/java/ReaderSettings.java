package skipstone;

import org.apache.spark.sql.execution.datasources.HadoopFsRelation;
import org.apache.spark.sql.internal.SQLConf;

import scala.collection.Iterator;

import java.util.TimeZone;

/**
 * The settings of a session, and options of a read, that change what Spark reads from the same
 * bytes.
 */
public final class ReaderSettings {
    /**
     * Settings that change what Spark reads from the same bytes. Statistics hold for one set of
     * them. Reading columns by number is not among them, for Delta switches it on and such columns
     * are never judged.
     */
    private static final String[] NAMES = {
        "spark.sql.parquet.binaryAsString",
        "spark.sql.parquet.int96AsTimestamp",
        "spark.sql.parquet.int96TimestampConversion",
        "spark.sql.parquet.datetimeRebaseModeInRead",
        "spark.sql.parquet.int96RebaseModeInRead",
        "spark.sql.legacy.parquet.nanosAsLong",
        "spark.sql.parquet.inferTimestampNTZ.enabled",
        "spark.sql.caseSensitive",
        "spark.sql.legacy.parquet.returnNullStructIfAllFieldsMissing",
        // Whether CHAR values that are stored without their trailing spaces are read with them.
        "spark.sql.legacy.charVarcharAsString",
        "spark.sql.readSideCharPadding"
    };

    /** When set, timestamps that are stored as INT96 are converted by the session's time zone. */
    private static final String CONVERSION = "spark.sql.parquet.int96TimestampConversion";

    private static final String[] OPTIONS = {"datetimerebasemode", "int96rebasemode"};

    private ReaderSettings() {}

    /** The settings as a JSON object. */
    static String json(SQLConf conf) {
        StringBuilder out = new StringBuilder("{");
        for (int i = 0; i < NAMES.length; i++) {
            out.append(i == 0 ? "" : ",").append(JsonText.quote(NAMES[i])).append(':');
            String value = conf.getConfString(NAMES[i]);
            boolean zoned = NAMES[i].equals(CONVERSION) && value.equals("true");
            out.append(JsonText.quote(zoned ? value + " " + conf.sessionLocalTimeZone() : value));
        }
        // Timestamps of the hybrid calendar are read by the time zone of the JVM.
        out.append(",\"user.timezone\":").append(JsonText.quote(TimeZone.getDefault().getID()));
        return out.append('}').toString();
    }

    /** Refuses a read with options of its own. */
    static void check(HadoopFsRelation relation) {
        Iterator options = relation.options().keysIterator();
        while (options.hasNext()) {
            String option = String.valueOf(options.next());
            for (int i = 0; i < OPTIONS.length; i++) {
                if (option.equalsIgnoreCase(OPTIONS[i])) {
                    throw new IllegalStateException(
                            "the read option " + option + " changes what is read");
                }
            }
        }
    }
}
