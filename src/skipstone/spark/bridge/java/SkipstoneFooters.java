package skipstone;

import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;
import org.apache.parquet.HadoopReadOptions;
import org.apache.parquet.hadoop.ParquetFileReader;
import org.apache.parquet.hadoop.metadata.BlockMetaData;
import org.apache.parquet.hadoop.metadata.ColumnChunkMetaData;
import org.apache.parquet.hadoop.util.HadoopInputFile;

import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** What Parquet footers say about the sizes of columns; no data is read. */
public final class SkipstoneFooters {
    public SkipstoneFooters() {}

    /**
     * Rows, and of each top-level column the stored bytes and the values, over all these files, as
     * JSON.
     */
    public String columnSizes(Configuration conf, String[] paths) throws Exception {
        long rows = 0L;
        Map columns = new HashMap();
        Map values = new HashMap();
        for (int i = 0; i < paths.length; i++) {
            Path path = new Path(paths[i]);
            // Without options, every file would have the configuration read from its XML files
            // anew.
            ParquetFileReader reader =
                    ParquetFileReader.open(
                            HadoopInputFile.fromPath(path, conf),
                            HadoopReadOptions.builder(conf, path).build());
            try {
                List groups = reader.getFooter().getBlocks();
                for (int j = 0; j < groups.size(); j++) {
                    BlockMetaData group = (BlockMetaData) groups.get(j);
                    rows += group.getRowCount();
                    List chunks = group.getColumns();
                    for (int k = 0; k < chunks.size(); k++) {
                        ColumnChunkMetaData chunk = (ColumnChunkMetaData) chunks.get(k);
                        String name = chunk.getPath().toArray()[0];
                        add(columns, name, chunk.getTotalSize());
                        add(values, name, chunk.getValueCount());
                    }
                }
            } finally {
                reader.close();
            }
        }
        Map out = new HashMap();
        out.put("rows", Long.valueOf(rows));
        out.put("columns", columns);
        out.put("values", values);
        return CatalystJson.text(out);
    }

    /** How many rows a file has. */
    static long rows(Configuration conf, Path path) throws Exception {
        ParquetFileReader reader =
                ParquetFileReader.open(
                        HadoopInputFile.fromPath(path, conf),
                        HadoopReadOptions.builder(conf, path).build());
        try {
            return reader.getRecordCount();
        } finally {
            reader.close();
        }
    }

    private static void add(Map sums, String name, long more) {
        Long before = (Long) sums.get(name);
        sums.put(name, Long.valueOf((before == null ? 0L : before.longValue()) + more));
    }
}
