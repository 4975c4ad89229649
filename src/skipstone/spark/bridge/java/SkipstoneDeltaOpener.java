package skipstone;

import org.apache.spark.sql.delta.files.TahoeFileIndex;
import org.apache.spark.sql.execution.datasources.HadoopFsRelation;
import org.apache.spark.sql.execution.datasources.LogicalRelation;

/** The same where Delta is there: Delta's log, not its folder, says which files a table has. */
public final class SkipstoneDeltaOpener extends SkipstoneOpener {
    public SkipstoneFiles list(LogicalRelation scan, HadoopFsRelation relation) {
        if (!(relation.location() instanceof TahoeFileIndex)) {
            return super.list(scan, relation);
        }
        return SkipstoneDeltaFiles.newest(((TahoeFileIndex) relation.location()).deltaLog());
    }
}
