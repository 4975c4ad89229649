package skipstone;

import org.apache.spark.rdd.RDD;
import org.apache.spark.sql.execution.SparkPlan;
import org.apache.spark.sql.execution.aggregate.SortAggregateExec;

import scala.Option;
import scala.collection.immutable.Seq;

/**
 * An aggregate without grouping keys that runs as generated code whatever its buffers are.
 *
 * <p>Spark keeps strings and binaries out of generated aggregates, because their buffers would
 * point into memory that the next batch overwrites. Our aggregates only see copies, so for them
 * that is no danger. Executors get the generated code and never this class; where Spark cannot
 * generate code after all, its own operator takes over.
 */
public final class SkipstoneAggregate extends SortAggregateExec {
    private static final long serialVersionUID = 1L;

    /**
     * The constructor of every such operator, which Spark calls by reflection when it copies a
     * plan.
     */
    public SkipstoneAggregate(
            Option distribution,
            boolean streaming,
            Option shufflePartitions,
            Seq grouping,
            Seq aggregates,
            Seq attributes,
            int offset,
            Seq results,
            SparkPlan child) {
        super(
                distribution,
                streaming,
                shufflePartitions,
                grouping,
                aggregates,
                attributes,
                offset,
                results,
                child);
    }

    /** The aggregates, which must all be declarative, for all rows of each partition. */
    public static SkipstoneAggregate of(
            Seq aggregates, Seq attributes, Seq results, SparkPlan child) {
        return new SkipstoneAggregate(
                Option.empty(),
                false,
                Option.empty(),
                ScalaSeq.empty(),
                aggregates,
                attributes,
                0,
                results,
                child);
    }

    public boolean supportCodegen() {
        return true;
    }

    public SortAggregateExec withNewChildInternal(SparkPlan child) {
        return of(aggregateExpressions(), aggregateAttributes(), resultExpressions(), child);
    }

    public RDD doExecute() {
        return new SortAggregateExec(
                        Option.empty(),
                        false,
                        Option.empty(),
                        ScalaSeq.empty(),
                        aggregateExpressions(),
                        aggregateAttributes(),
                        0,
                        resultExpressions(),
                        child())
                .execute();
    }
}
