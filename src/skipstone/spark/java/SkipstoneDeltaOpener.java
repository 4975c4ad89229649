package skipstone;

import org.apache.spark.sql.delta.files.TahoeFileIndex;
import org.apache.spark.sql.execution.datasources.HadoopFsRelation;
import org.apache.spark.sql.execution.datasources.LogicalRelation;
import scala.Option;

/** The same where Delta is there: Delta's log, not its folder, says which files a table has. */
public final class SkipstoneDeltaOpener extends SkipstoneOpener {
    public SkipstoneFiles list(LogicalRelation scan, HadoopFsRelation relation) {
        if (!(relation.location() instanceof TahoeFileIndex)) {
            return super.list(scan, relation);
        }
        TahoeFileIndex index = (TahoeFileIndex) relation.location();
        return new SkipstoneDeltaFiles(scan, index, index.deltaLog().update(false, Option.empty(), Option.empty()));
    }
}
