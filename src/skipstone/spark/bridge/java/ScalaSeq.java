package skipstone;

import scala.collection.immutable.Nil$;
import scala.collection.immutable.Seq;

/** Scala's sequences. */
public final class ScalaSeq {
    private ScalaSeq() {}

    public static Seq empty() {
        return (Seq) Nil$.MODULE$;
    }
}
