package skipstone;

import org.apache.hadoop.fs.FileStatus;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.TryEval;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.classic.Dataset;
import org.apache.spark.sql.execution.datasources.FileIndex;
import org.apache.spark.sql.execution.datasources.FileStatusWithMetadata;
import org.apache.spark.sql.execution.datasources.HadoopFsRelation;
import org.apache.spark.sql.execution.datasources.LogicalRelation;
import org.apache.spark.sql.execution.datasources.PartitionDirectory;
import org.apache.spark.sql.execution.datasources.parquet.ParquetFileFormat;

import scala.collection.Iterator;

import java.util.ArrayList;
import java.util.List;

/** Finds the files of the one table that a frame reads. */
public class SkipstoneOpener {
    /**
     * The table's files, or null when the frame does not read exactly one table of Parquet files.
     */
    public SkipstoneFiles open(Dataset frame) {
        List found = new ArrayList();
        leaves(frame.queryExecution().analyzed(), found);
        if (found.size() != 1 || !(found.get(0) instanceof LogicalRelation)) {
            return null;
        }
        LogicalRelation scan = (LogicalRelation) found.get(0);
        if (scan.isStreaming() || !(scan.relation() instanceof HadoopFsRelation)) {
            return null;
        }
        HadoopFsRelation relation = (HadoopFsRelation) scan.relation();
        return relation.fileFormat() instanceof ParquetFileFormat ? list(scan, relation) : null;
    }

    public SkipstoneFiles list(LogicalRelation scan, HadoopFsRelation relation) {
        FileIndex location = relation.location();
        String root =
                location.rootPaths().size() == 1 ? location.rootPaths().head().toString() : "";
        SkipstoneFiles files = new SkipstoneFiles(scan, root);
        location.refresh();
        Iterator directories = location.listFiles(ScalaSeq.empty(), ScalaSeq.empty()).iterator();
        while (directories.hasNext()) {
            Iterator statuses = ((PartitionDirectory) directories.next()).files().iterator();
            while (statuses.hasNext()) {
                FileStatus status = ((FileStatusWithMetadata) statuses.next()).fileStatus();
                String path = status.getPath().toString();
                String key = path.startsWith(root + "/") ? path.substring(root.length() + 1) : path;
                files.add(key, path, status.getLen(), status.getModificationTime());
            }
        }
        return files;
    }

    private static void leaves(LogicalPlan plan, List out) {
        Iterator children = plan.children().iterator();
        if (!children.hasNext()) {
            out.add(plan);
        }
        while (children.hasNext()) {
            leaves((LogicalPlan) children.next(), out);
        }
    }

    /** NULL where evaluating the column fails, so that one odd row cannot stop an index. */
    public org.apache.spark.sql.Column guarded(org.apache.spark.sql.Column column) {
        Expression expression = org.apache.spark.sql.classic.ExpressionUtils.expression(column);
        return org.apache.spark.sql.classic.ExpressionUtils.column(new TryEval(expression));
    }
}
