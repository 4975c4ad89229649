package skipstone;

import java.net.InetAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.time.Instant;
import java.util.Optional;

/**
 * Who writes files of the query log: a machine, a process with the time of its start, and a number.
 * The id is part of the files' names, so that nobody takes those of a writer that still runs.
 */
final class LogWriter {
    private static final String RUNNING = "skipstone.log.";

    private final String id;

    LogWriter() throws Exception {
        ProcessHandle process = (ProcessHandle) call("current", new Class[0], new Object[0]);
        String host = InetAddress.getLocalHost().getHostName().replaceAll("[^A-Za-z0-9-]", "-");
        String started = startedAt(process) + "_" + Long.toHexString(System.nanoTime());
        this.id = host + "_" + process.pid() + "_" + started;
    }

    String id() {
        return id;
    }

    void begin() {
        System.setProperty(RUNNING + id, "true");
    }

    void end() {
        System.clearProperty(RUNNING + id);
    }

    /**
     * Whether the writer that wrote files under this id may still do so: same machine, process
     * still there.
     */
    boolean mayRun(String other) throws Exception {
        String[] parts = other.split("_");
        String[] own = id.split("_");
        if (parts.length != 4 || !parts[0].equals(own[0])) {
            return true;
        }
        if (parts[1].equals(own[1]) && parts[2].equals(own[2])) {
            return System.getProperty(RUNNING + other) != null;
        }
        Optional process =
                (Optional)
                        call("of", new Class[] {Long.TYPE}, new Object[] {Long.valueOf(parts[1])});
        return process.isPresent()
                && startedAt((ProcessHandle) process.get()).equals(parts[2])
                && !isZombie(parts[1]);
    }

    /**
     * In a container nobody may collect what is left of a killed process, which Java then takes for
     * alive.
     */
    private static boolean isZombie(String pid) throws Exception {
        Path stat = Paths.get("/proc/" + pid + "/stat", new String[0]);
        if (!stat.toFile().exists()) {
            return false;
        }
        String text = new String(Files.readAllBytes(stat), StandardCharsets.UTF_8);
        return text.substring(text.lastIndexOf(')') + 1).trim().startsWith("Z");
    }

    /** Janino cannot compile calls of an interface's static methods. */
    private static Object call(String method, Class[] types, Object[] arguments) throws Exception {
        return ProcessHandle.class.getMethod(method, types).invoke(null, arguments);
    }

    private static String startedAt(ProcessHandle process) {
        Optional started = process.info().startInstant();
        return started.isPresent() ? Long.toString(((Instant) started.get()).toEpochMilli()) : "0";
    }
}
