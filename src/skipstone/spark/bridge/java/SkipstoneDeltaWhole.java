package skipstone;

import org.apache.spark.sql.catalyst.expressions.AttributeReference;
import org.apache.spark.sql.catalyst.expressions.IsNotNull;
import org.apache.spark.sql.delta.stats.PreparedDeltaFileIndex;

import scala.Option;
import scala.collection.immutable.Seq;

import java.util.ArrayList;
import java.util.List;

/**
 * All files of a table: a join asks for nothing but keys that are not NULL, and the catalog knows
 * no file without any. Delta's job could find no more.
 *
 * <p>A subclass of a case class equals its parent unless it says otherwise, and Spark keeps the old
 * plan when a new one equals it.
 */
final class SkipstoneDeltaWhole extends PreparedDeltaFileIndex implements PrunedIndex {
    private static final long serialVersionUID = 1L;

    SkipstoneDeltaWhole(PreparedDeltaFileIndex of) {
        super(
                of.spark(),
                of.deltaLog(),
                of.path(),
                of.catalogTableOpt(),
                of.preparedScan(),
                Option.empty());
    }

    /** Whether a filter is what Spark adds for a join, and nobody wants to know what Delta says. */
    static boolean enough(DecidedScan scan) {
        if (scan.reported) {
            return false;
        }
        List conjuncts = new ArrayList();
        ScanQuestion.split(scan.condition, conjuncts);
        for (int i = 0; i < conjuncts.size(); i++) {
            if (!(conjuncts.get(i) instanceof IsNotNull)
                    || !(((IsNotNull) conjuncts.get(i)).child() instanceof AttributeReference)) {
                return false;
            }
        }
        return true;
    }

    public Seq matchingFiles(Seq partitionFilters, Seq dataFilters) {
        return preparedScan().files();
    }

    public boolean canEqual(Object other) {
        return other instanceof SkipstoneDeltaWhole;
    }

    public boolean equals(Object other) {
        return this == other || other instanceof SkipstoneDeltaWhole && super.equals(other);
    }

    public int hashCode() {
        return super.hashCode() * 31 + 1;
    }
}
