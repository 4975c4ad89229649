package skipstone;

import org.apache.spark.sql.execution.FileSourceScanExec;
import org.apache.spark.sql.execution.datasources.HadoopFsRelation;

import java.util.List;

/** A scan that is read from column groups only, as the query log has it. */
final class GroupedScan {
    /** The scan that was planned, of no files; its columns are those that were asked for. */
    final FileSourceScanExec scan;

    /** The table, with the replica that is read. */
    final HadoopFsRelation relation;

    /** The conditions of the filters above. */
    final List conditions;

    final long files;
    final long bytes;

    GroupedScan(
            FileSourceScanExec scan,
            HadoopFsRelation relation,
            List conditions,
            long files,
            long bytes) {
        this.scan = scan;
        this.relation = relation;
        this.conditions = conditions;
        this.files = files;
        this.bytes = bytes;
    }
}
