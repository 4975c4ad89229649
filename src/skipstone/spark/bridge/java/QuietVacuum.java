package skipstone;

import org.apache.spark.sql.classic.SparkSession;

import scala.Console$;
import scala.runtime.AbstractFunction0;

import java.io.OutputStream;

/**
 * VACUUM without the sentence that Delta prints to standard output, which may be somebody's JSON.
 */
public final class QuietVacuum {
    public void run(SparkSession session, String path) {
        Console$.MODULE$.withOut(OutputStream.nullOutputStream(), new Statement(session, path));
    }

    static final class Statement extends AbstractFunction0 {
        private final SparkSession session;
        private final String path;

        Statement(SparkSession session, String path) {
            this.session = session;
            this.path = path;
        }

        public Object apply() {
            return session.sql("VACUUM delta.`" + path.replace("`", "``") + "`");
        }
    }
}
