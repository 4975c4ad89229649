package skipstone;

import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.CommonPathCapabilities;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.RemoteIterator;

import java.io.ByteArrayOutputStream;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.io.InputStream;
import java.util.Arrays;
import java.util.List;
import java.util.UUID;

/** Small files on any file system that Hadoop knows. */
public final class HadoopFiles {
    /**
     * Schemes of object stores that show a file when it is closed, as Delta's own log stores have
     * it too.
     */
    private static final List WHOLE = Arrays.asList(new String[] {"s3", "s3a", "s3n", "gs"});

    public HadoopFiles() {}

    public byte[] read(Configuration conf, String path) throws Exception {
        Path target = new Path(path);
        InputStream in = target.getFileSystem(conf).open(target);
        try {
            ByteArrayOutputStream out = new ByteArrayOutputStream();
            byte[] buffer = new byte[1 << 16];
            for (int n = in.read(buffer); n >= 0; n = in.read(buffer)) {
                out.write(buffer, 0, n);
            }
            return out.toByteArray();
        } finally {
            in.close();
        }
    }

    /**
     * Writes a new file. Where a file is seen only when it is closed, it goes straight to its name:
     * there a rename would be a copy that others can see half done. Elsewhere it is written under a
     * name of its own and renamed.
     */
    public void write(Configuration conf, String path, byte[] bytes) throws Exception {
        Path target = new Path(path);
        FileSystem fs = target.getFileSystem(conf);
        if (WHOLE.contains(fs.getUri().getScheme())
                || fs.hasPathCapability(target, CommonPathCapabilities.ABORTABLE_STREAM)) {
            put(fs, target, bytes);
            return;
        }
        fs.mkdirs(target.getParent());
        Path draft =
                new Path(
                        target.getParent(),
                        "." + target.getName() + "." + UUID.randomUUID() + ".draft");
        boolean moved = false;
        try {
            put(fs, draft, bytes);
            moved = move(conf, fs, draft, target, bytes);
        } finally {
            if (!moved) {
                discard(fs, draft);
            }
        }
    }

    /** Deletes a draft that came to nothing, for on a full disk they would pile up; it may stay. */
    static void discard(FileSystem fs, Path draft) {
        try {
            fs.delete(draft, false);
        } catch (Throwable e) {
            // What kept it from being written is what the caller should hear of.
        }
    }

    /** Some file systems do not rename to a name that is taken. By the same bytes it may be. */
    private boolean move(Configuration conf, FileSystem fs, Path draft, Path target, byte[] bytes)
            throws Exception {
        if (fs.rename(draft, target)) {
            return true;
        }
        if (fs.exists(target)) {
            if (Arrays.equals(read(conf, target.toString()), bytes)) {
                return false;
            }
            fs.delete(target, false);
            if (fs.rename(draft, target)) {
                return true;
            }
        }
        throw new IOException("cannot rename " + draft + " to " + target);
    }

    private static void put(FileSystem fs, Path target, byte[] bytes) throws Exception {
        FSDataOutputStream out = fs.create(target, true);
        boolean whole = false;
        try {
            out.write(bytes);
            whole = true;
        } finally {
            // To close an object is to publish it, however little of it was written.
            if (!whole && out.hasCapability(CommonPathCapabilities.ABORTABLE_STREAM)) {
                out.abort();
            }
            out.close();
        }
    }

    /**
     * Deletes drafts of writers that died, in the folder of a file that was just written. A draft
     * is written in one go, so one that is older than this file by so much has nobody who writes it
     * any more. Both times are those of the file system, whose clock need not be ours.
     */
    public int sweepDrafts(Configuration conf, String path, long millis) throws Exception {
        Path written = new Path(path);
        FileSystem fs = written.getFileSystem(conf);
        long now = fs.getFileStatus(written).getModificationTime();
        FileStatus[] found = fs.listStatus(written.getParent());
        int swept = 0;
        for (int i = 0; i < found.length; i++) {
            String name = found[i].getPath().getName();
            boolean draft = name.startsWith(".") && name.endsWith(".draft") && found[i].isFile();
            if (draft && now - found[i].getModificationTime() > millis) {
                discard(fs, found[i].getPath());
                swept++;
            }
        }
        return swept;
    }

    /** Names of the files in a folder, sorted; none when the folder is absent. */
    public String[] names(Configuration conf, String path) throws Exception {
        Path target = new Path(path);
        FileStatus[] found;
        try {
            found = target.getFileSystem(conf).listStatus(target);
        } catch (FileNotFoundException absent) {
            return new String[0];
        }
        String[] out = new String[found.length];
        for (int i = 0; i < found.length; i++) {
            out[i] = found[i].getPath().getName();
        }
        Arrays.sort(out);
        return out;
    }

    /**
     * "f" for a file; "d" and, after NULs, each name behind its own letter for a directory; null
     * for nothing.
     */
    public String listing(Configuration conf, String path) throws Exception {
        Path target = new Path(path);
        FileSystem fs = target.getFileSystem(conf);
        if (!fs.exists(target)) {
            return null;
        }
        if (fs.getFileStatus(target).isFile()) {
            return "f";
        }
        FileStatus[] found = fs.listStatus(target);
        Arrays.sort(found);
        StringBuilder out = new StringBuilder("d");
        for (int i = 0; i < found.length; i++) {
            out.append('\0')
                    .append(found[i].isDirectory() ? 'd' : 'f')
                    .append(found[i].getPath().getName());
        }
        return out.toString();
    }

    public void delete(Configuration conf, String path) throws Exception {
        Path target = new Path(path);
        target.getFileSystem(conf).delete(target, false);
    }

    /** Deletes a folder and all that is in it; nothing if it is absent. */
    public void deleteFolder(Configuration conf, String path) throws Exception {
        Path target = new Path(path);
        target.getFileSystem(conf).delete(target, true);
    }

    /**
     * Deletes a folder in which no file is younger than so much; says whether it did, and not
     * somebody else meanwhile. Clocks of file systems differ by less than anything that is worth
     * asking for here.
     */
    public boolean deleteOldFolder(Configuration conf, String path, long millis) throws Exception {
        Path target = new Path(path);
        FileSystem fs = target.getFileSystem(conf);
        try {
            long newest = fs.getFileStatus(target).getModificationTime();
            RemoteIterator files = fs.listFiles(target, true);
            while (files.hasNext()) {
                Object file = files.next();
                newest = Math.max(newest, ((FileStatus) file).getModificationTime());
            }
            return System.currentTimeMillis() - newest > millis && fs.delete(target, true);
        } catch (FileNotFoundException absent) {
            return false;
        }
    }
}
