package skipstone;

import org.apache.hadoop.conf.Configuration;

import java.lang.reflect.Field;
import java.util.IdentityHashMap;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Where each of Hadoop's settings was made, which is left out while files are written.
 *
 * <p>Spark sends about a thousand settings to every task that writes a file, and with each of them
 * a text, compressed by itself, that says where it was made. To read these takes a task 5 ms, to
 * read the settings alone less than 1 ms. Nothing goes by them; they are there for people who look
 * for a wrong setting, and come back when the last of those that write has ended.
 */
final class SettingSources {
    private static final Map WRITING = new IdentityHashMap();

    private int writers;
    private Map sources;

    private SettingSources() {}

    /** Leaves them out until they are put back as often. */
    static synchronized void leaveOut(Configuration settings) {
        SettingSources kept = (SettingSources) WRITING.get(settings);
        if (kept == null) {
            Map sources = swap(settings, new ConcurrentHashMap());
            if (sources == null) {
                return;
            }
            kept = new SettingSources();
            kept.sources = sources;
            WRITING.put(settings, kept);
        }
        kept.writers++;
    }

    /** Puts them back; what was set meanwhile keeps its own source. */
    static synchronized void putBack(Configuration settings) {
        SettingSources kept = (SettingSources) WRITING.get(settings);
        if (kept == null || --kept.writers > 0) {
            return;
        }
        WRITING.remove(settings);
        Map meanwhile = swap(settings, kept.sources);
        if (meanwhile != null) {
            kept.sources.putAll(meanwhile);
        }
    }

    /** What was there; null where Hadoop keeps them otherwise, and then all stays as it is. */
    private static Map swap(Configuration settings, Map sources) {
        try {
            Field field = Configuration.class.getDeclaredField("updatingResource");
            field.setAccessible(true);
            synchronized (settings) {
                Map before = (Map) field.get(settings);
                if (before != null) {
                    field.set(settings, sources);
                }
                return before;
            }
        } catch (ReflectiveOperationException unknown) {
            return null;
        }
    }
}
