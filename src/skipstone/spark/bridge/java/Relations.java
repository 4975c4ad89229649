package skipstone;

import org.apache.spark.sql.execution.datasources.FileIndex;
import org.apache.spark.sql.execution.datasources.HadoopFsRelation;
import org.apache.spark.sql.execution.datasources.LogicalRelation;

/** Copies of scans and relations. */
public final class Relations {
    private Relations() {}

    /** The same scan, of the files of another index. */
    public static LogicalRelation reading(LogicalRelation scan, FileIndex index) {
        HadoopFsRelation relation = (HadoopFsRelation) scan.relation();
        HadoopFsRelation other = reading(relation, index, relation.sparkSession());
        return new LogicalRelation(
                other, scan.output(), scan.catalogTable(), scan.isStreaming(), scan.stream());
    }

    /** The same relation, of the files of another index. */
    public static HadoopFsRelation reading(
            HadoopFsRelation relation, FileIndex index, org.apache.spark.sql.SparkSession session) {
        return new HadoopFsRelation(
                index,
                relation.partitionSchema(),
                relation.dataSchema(),
                relation.bucketSpec(),
                relation.fileFormat(),
                relation.options(),
                session);
    }
}
