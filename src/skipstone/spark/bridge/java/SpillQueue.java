package skipstone;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Map.Entry;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * Lines that wait in memory, and the file on local disk that they go to: when many have gathered,
 * when asked for, and when the application ends. Failures are counted, and each kind is logged
 * once.
 */
final class SpillQueue {
    private static final Logger LOG = LoggerFactory.getLogger("skipstone");

    private final Path folder;
    private final String writer;
    private final int capacity;
    private final long mostBytes;
    private long number;
    private long spilledBytes;
    private long waitingBytes;
    private long recorded;
    private List waiting = new ArrayList();
    private final TreeMap dropped = new TreeMap();
    private final Set reported = new TreeSet();

    /** mostBytes bounds the file that is being written, and what waits in memory for it. */
    SpillQueue(String folder, String writer, int capacity, long mostBytes) {
        this.folder = Paths.get(folder, new String[0]);
        this.writer = writer;
        this.capacity = capacity;
        this.mostBytes = mostBytes;
    }

    synchronized void add(String line) {
        if (isFull(line)) {
            spill();
        }
        if (isFull(line)) {
            drop("the queue was full", null, 1);
        } else {
            waiting.add(line);
            waitingBytes += line.length();
            recorded++;
        }
    }

    /** By the number of lines and, since each has the schema of its table, by their size. */
    private boolean isFull(String line) {
        return waiting.size() >= capacity || waitingBytes + line.length() > mostBytes;
    }

    private void nothingWaits() {
        waiting = new ArrayList();
        waitingBytes = 0L;
    }

    /**
     * Appends what waits in memory to the file; if that cannot be, it goes on waiting and the file
     * is as before.
     */
    synchronized void spill() {
        if (waiting.isEmpty()) {
            return;
        }
        byte[] bytes = (String.join("\n", waiting) + "\n").getBytes(StandardCharsets.UTF_8);
        if (spilledBytes + bytes.length > mostBytes) {
            report("the spill file has reached its limit", null);
            return;
        }
        try {
            Files.createDirectories(folder, only("rwx------"));
            Set options =
                    new HashSet(
                            Arrays.asList(
                                    new Object[] {
                                        StandardOpenOption.CREATE,
                                        StandardOpenOption.WRITE,
                                        StandardOpenOption.APPEND
                                    }));
            FileChannel channel = FileChannel.open(file(), options, only("rw-------"));
            try {
                long before = channel.size();
                try {
                    ByteBuffer buffer = ByteBuffer.wrap(bytes);
                    while (buffer.hasRemaining()) {
                        channel.write(buffer);
                    }
                } catch (IOException full) {
                    channel.truncate(before);
                    throw full;
                }
            } finally {
                channel.close();
            }
            spilledBytes += bytes.length;
            nothingWaits();
        } catch (Exception problem) {
            report("the queue cannot be spilled to " + folder, problem);
        }
    }

    private static FileAttribute[] only(String permissions) {
        return new FileAttribute[] {
            PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString(permissions))
        };
    }

    private Path file() {
        return folder.resolve(writer + "." + number + ".jsonl");
    }

    /**
     * Closes the file, if there is one, so that Python may have it; returns lines that could not be
     * written.
     */
    synchronized String rotate() {
        spill();
        if (spilledBytes > 0L) {
            number++;
            spilledBytes = 0L;
        }
        String left = String.join("\n", waiting);
        nothingWaits();
        return left;
    }

    /** The number of the file that is being written; those before it are closed. */
    synchronized long number() {
        return number;
    }

    synchronized void drop(String reason, Throwable problem, int count) {
        Object before = dropped.get(reason);
        dropped.put(
                reason, Long.valueOf((before == null ? 0L : ((Long) before).longValue()) + count));
        report(reason, problem);
    }

    synchronized void report(String what, Throwable problem) {
        if (reported.add(what)) {
            LOG.warn("query log: " + what + (problem == null ? "" : " (" + problem + ")"));
        }
    }

    /** {"recorded": n, "waiting": n, "dropped": {reason: n}, "problems": [...]} */
    synchronized String status() {
        StringBuilder reasons = new StringBuilder();
        java.util.Iterator each = dropped.entrySet().iterator();
        while (each.hasNext()) {
            Entry entry = (Entry) each.next();
            reasons.append(reasons.length() == 0 ? "" : ",")
                    .append(JsonText.quote((String) entry.getKey()));
            reasons.append(":").append(entry.getValue());
        }
        StringBuilder problems = new StringBuilder();
        java.util.Iterator all = reported.iterator();
        while (all.hasNext()) {
            problems.append(problems.length() == 0 ? "" : ",")
                    .append(JsonText.quote((String) all.next()));
        }
        return "{\"recorded\":"
                + recorded
                + ",\"waiting\":"
                + waiting.size()
                + ",\"dropped\":{"
                + reasons
                + "},\"problems\":["
                + problems
                + "]}";
    }
}
