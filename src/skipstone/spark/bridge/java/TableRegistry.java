package skipstone;

import java.util.Arrays;
import java.util.HashSet;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;

/** The tables that have a catalog, by their root path. */
public final class TableRegistry {
    /** What lies in here, such as the query log, is no part of the table around it. */
    private static final String OWN_FOLDER = "/_skipstone/";

    /** But joined replicas are tables. */
    private static final String JOINED_FOLDER = OWN_FOLDER + "joined/";

    private static final long ABSENT_NANOS = 60L * 1000L * 1000L * 1000L;

    /** Root path to table. A root that was looked at and holds no catalog maps to ABSENT. */
    private final ConcurrentHashMap tables = new ConcurrentHashMap();

    private final CatalogEntries absent =
            new CatalogEntries("", new String[0], new long[0], new long[0]);

    private volatile Function discoverer;

    private volatile long absentSince = System.nanoTime();

    /**
     * @param discoverer takes a root path never seen before, and registers the table if it has a
     *     catalog; null switches discovery off
     */
    void connect(Function discoverer) {
        this.discoverer = discoverer;
    }

    /**
     * Registers a table; paths are separated by NUL, numbers are big-endian longs.
     *
     * @param replicas further copies of its rows, null if there are none
     */
    public void register(
            String root,
            long version,
            byte[] paths,
            byte[] sizes,
            byte[] times,
            ReplicaEntries replicas) {
        CatalogEntries table = CatalogEntries.of(root, paths, sizes, times);
        table.version = version;
        table.replicas = replicas;
        tables.put(root, table);
    }

    /** Which tables the features of a registered one are about through joins, by their roots. */
    void joined(String root, String[] partners) {
        CatalogEntries table = (CatalogEntries) tables.get(root);
        if (table != null) {
            table.partners = new HashSet(Arrays.asList(partners));
        }
    }

    /** Says whether a registered table has joined replicas. */
    void hasJoined(String root, boolean has) {
        CatalogEntries table = (CatalogEntries) tables.get(root);
        if (table != null) {
            table.joined = has;
        }
    }

    /**
     * The registered table at or above a root path, or null. Unknown roots are looked at once a
     * minute.
     */
    public CatalogEntries lookup(String root) {
        boolean joined = root.contains(JOINED_FOLDER);
        if (root.contains(OWN_FOLDER) && !joined) {
            return null;
        }
        long now = System.nanoTime();
        if (now - absentSince > ABSENT_NANOS) {
            absentSince = now;
            tables.values().removeIf(new IsAbsent(absent));
        }
        Object found = tables.get(root);
        if (found == null && discoverer != null) {
            tables.putIfAbsent(root, absent);
            discoverer.apply(root);
            found = tables.get(root);
        }
        if (found != null && found != absent) {
            return (CatalogEntries) found;
        }
        if (joined) {
            return null;
        }
        for (int cut = root.lastIndexOf('/'); cut > 0; cut = root.lastIndexOf('/', cut - 1)) {
            Object above = tables.get(root.substring(0, cut));
            if (above != null && above != absent) {
                return (CatalogEntries) above;
            }
        }
        return null;
    }

    static final class IsAbsent implements java.util.function.Predicate {
        private final Object absent;

        IsAbsent(Object absent) {
            this.absent = absent;
        }

        public boolean test(Object value) {
            return value == absent;
        }
    }
}
