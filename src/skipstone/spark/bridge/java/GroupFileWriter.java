package skipstone;

import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.Path;
import org.apache.parquet.HadoopReadOptions;
import org.apache.parquet.column.ParquetProperties;
import org.apache.parquet.hadoop.ParquetFileReader;
import org.apache.parquet.hadoop.ParquetFileWriter;
import org.apache.parquet.hadoop.metadata.BlockMetaData;
import org.apache.parquet.hadoop.metadata.ColumnChunkMetaData;
import org.apache.parquet.hadoop.metadata.ParquetMetadata;
import org.apache.parquet.hadoop.util.HadoopInputFile;
import org.apache.parquet.hadoop.util.HadoopOutputFile;
import org.apache.parquet.io.SeekableInputStream;
import org.apache.parquet.schema.MessageType;
import org.apache.parquet.schema.Type;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Puts Parquet files of one block each together as the row groups of one file. Bytes are copied as
 * they are; columns that are not wanted are left behind.
 */
public final class GroupFileWriter {
    private static final String SPARK_SCHEMA = "org.apache.spark.sql.parquet.row.metadata";
    private static final int NO_PADDING = 0;

    public GroupFileWriter() {}

    /**
     * Writes one file of the blocks, and says where each of them lies in it, as JSON.
     *
     * @param blockPaths files with the same columns, separated by NUL
     * @param columns the ones to keep, separated by NUL
     * @param schema these as Spark's schema, for whoever reads the file without one
     */
    public String write(
            Configuration conf, String blockPaths, String target, String columns, String schema)
            throws Exception {
        Path path = new Path(target);
        String[] blocks = blockPaths.split("\0");
        Set wanted = new HashSet(Arrays.asList(columns.split("\0")));
        ParquetFileWriter writer = null;
        Map texts = null;
        int[] parts = new int[blocks.length];
        try {
            for (int i = 0; i < blocks.length; i++) {
                Path block = new Path(blocks[i]);
                HadoopInputFile file = HadoopInputFile.fromPath(block, conf);
                ParquetFileReader reader =
                        ParquetFileReader.open(
                                file, HadoopReadOptions.builder(conf, block).build());
                try {
                    ParquetMetadata footer = reader.getFooter();
                    if (writer == null) {
                        texts = new HashMap(footer.getFileMetaData().getKeyValueMetaData());
                        texts.put(SPARK_SCHEMA, schema);
                        writer = begin(conf, path, footer.getFileMetaData().getSchema(), wanted);
                    }
                    SeekableInputStream bytes = file.newStream();
                    try {
                        writer.appendRowGroups(bytes, footer.getBlocks(), true);
                    } finally {
                        bytes.close();
                    }
                    parts[i] = footer.getBlocks().size();
                } finally {
                    reader.close();
                }
            }
            writer.end(texts);
        } finally {
            if (writer != null) {
                writer.close();
            }
        }
        return described(conf, path, parts);
    }

    private static ParquetFileWriter begin(
            Configuration conf, Path path, MessageType schema, Set wanted) throws Exception {
        List kept = new ArrayList();
        List fields = schema.getFields();
        for (int i = 0; i < fields.size(); i++) {
            if (wanted.contains(((Type) fields.get(i)).getName())) {
                kept.add(fields.get(i));
            }
        }
        if (kept.size() != wanted.size()) {
            throw new IllegalStateException("a block lacks one of the columns " + wanted);
        }
        ParquetFileWriter writer =
                new ParquetFileWriter(
                        HadoopOutputFile.fromPath(path, conf),
                        new MessageType(schema.getName(), kept),
                        ParquetFileWriter.Mode.CREATE,
                        Long.MAX_VALUE,
                        NO_PADDING,
                        null,
                        ParquetProperties.builder().build());
        writer.start();
        return writer;
    }

    /**
     * Size and time of the file; of each block its rows, where it begins, how many bytes it has and
     * those of its columns. The file is looked at as it is there now.
     *
     * @param parts how many row groups each block has: several if it is very large
     */
    private static String described(Configuration conf, Path path, int[] parts) throws Exception {
        FileStatus status = path.getFileSystem(conf).getFileStatus(path);
        List starts = new ArrayList();
        List bytes = new ArrayList();
        List rows = new ArrayList();
        Map columns = new HashMap();
        ParquetFileReader reader =
                ParquetFileReader.open(
                        HadoopInputFile.fromStatus(status, conf),
                        HadoopReadOptions.builder(conf, path).build());
        try {
            List groups = reader.getFooter().getBlocks();
            int next = 0;
            for (int i = 0; i < parts.length; i++) {
                long count = 0L;
                long size = 0L;
                long start = ((BlockMetaData) groups.get(next)).getStartingPos();
                for (int j = 0; j < parts[i]; j++) {
                    BlockMetaData group = (BlockMetaData) groups.get(next);
                    next++;
                    count += group.getRowCount();
                    size += group.getCompressedSize();
                    addColumns(columns, group.getColumns());
                }
                starts.add(Long.valueOf(start));
                bytes.add(Long.valueOf(size));
                rows.add(Long.valueOf(count));
            }
            if (next != groups.size()) {
                throw new IllegalStateException(path + " has other row groups than were written");
            }
        } finally {
            reader.close();
        }
        Map out = new HashMap();
        out.put("size", Long.valueOf(status.getLen()));
        out.put("time", Long.valueOf(status.getModificationTime()));
        out.put("starts", starts);
        out.put("bytes", bytes);
        out.put("rows", rows);
        out.put("columns", columns);
        return CatalystJson.text(out);
    }

    private static void addColumns(Map sums, List chunks) {
        for (int i = 0; i < chunks.size(); i++) {
            ColumnChunkMetaData chunk = (ColumnChunkMetaData) chunks.get(i);
            String name = chunk.getPath().toArray()[0];
            Long before = (Long) sums.get(name);
            long sum = (before == null ? 0L : before.longValue()) + chunk.getTotalSize();
            sums.put(name, Long.valueOf(sum));
        }
    }
}
