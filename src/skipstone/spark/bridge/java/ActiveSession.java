package skipstone;

import org.apache.spark.sql.SparkSession;

import scala.Option;

/** The session that is active in this thread, whose settings Spark and Delta often take. */
final class ActiveSession {
    private ActiveSession() {}

    /** Makes a session the active one, and returns the one before for restore. */
    static Option swap(SparkSession session) {
        Option before = SparkSession.getActiveSession();
        SparkSession.setActiveSession(session);
        return before;
    }

    static void restore(Option before) {
        if (before.isDefined()) {
            SparkSession.setActiveSession((SparkSession) before.get());
        } else {
            SparkSession.clearActiveSession();
        }
    }
}
