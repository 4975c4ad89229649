package skipstone;

import org.apache.spark.rdd.RDD;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.classic.Dataset;
import org.apache.spark.sql.classic.SparkSession;
import org.apache.spark.sql.execution.CoalescedPartitionSpec;
import org.apache.spark.sql.execution.ShufflePartitionSpec;
import org.apache.spark.sql.execution.SparkPlan;
import org.apache.spark.sql.execution.exchange.ShuffleExchangeExec;

import scala.Option;

import java.util.Map;
import java.util.TreeMap;

/**
 * Rows that one shuffle has dealt out to partitions, of which several writes each read some. Spark
 * runs the side of a shuffle that reads its input once, with the first of them, and keeps what it
 * has written for the others.
 */
public final class SkipstoneDealt {
    private Dataset rows;
    private ShuffleExchangeExec exchange;

    public SkipstoneDealt() {}

    /** The rows, whose plan must end with their shuffle. */
    public void of(Dataset rows) {
        SparkPlan plan = rows.queryExecution().executedPlan();
        if (!(plan instanceof ShuffleExchangeExec)) {
            throw new IllegalStateException("the plan ends with " + plan.nodeName());
        }
        this.rows = rows;
        this.exchange = (ShuffleExchangeExec) plan;
    }

    /** The rows of the partitions from one number to before another, in as many partitions. */
    public Dataset part(SparkSession session, int from, int until) {
        ShufflePartitionSpec[] specs = new ShufflePartitionSpec[until - from];
        for (int i = 0; i < specs.length; i++) {
            specs[i] = new CoalescedPartitionSpec(from + i, from + i + 1, Option.empty());
        }
        RDD part = exchange.getShuffleRDD(specs);
        return session.internalCreateDataFrame(part, rows.schema(), false);
    }

    /** What was observed of the rows that were read, as JSON; nothing before that. */
    public String observed() throws Exception {
        Map out = new TreeMap();
        scala.collection.Iterator all = rows.queryExecution().observedMetrics().valuesIterator();
        while (all.hasNext()) {
            Row found = (Row) all.next();
            String[] names = found.schema().fieldNames();
            for (int i = 0; i < names.length; i++) {
                out.put(names[i], found.get(i));
            }
        }
        return CatalystJson.text(out);
    }
}
