package skipstone;

import scala.collection.immutable.Nil$;
import scala.collection.immutable.Seq;
import scala.collection.mutable.ListBuffer;

/** Scala's sequences. */
public final class ScalaSeq {
    private ScalaSeq() {}

    public static Seq empty() {
        return (Seq) Nil$.MODULE$;
    }

    public static Seq of(Object item) {
        ListBuffer out = new ListBuffer();
        out.addOne(item);
        return out.toList();
    }
}
