package org.apache.spark.sql.execution.aggregate;

import org.apache.spark.rdd.RDD;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.expressions.NamedExpression;
import org.apache.spark.sql.catalyst.expressions.aggregate.AggregateExpression;
import org.apache.spark.sql.execution.SparkPlan;

import scala.Option;
import scala.collection.immutable.IndexedSeq;
import scala.collection.immutable.Seq;

/**
 * Stands for Spark's class when javac checks ours, and is never run. No Java class can extend the
 * real one in javac's eyes: the methods that Scala mixes into it are final and have lost their type
 * arguments. Only what our sources use is here, as the real class has it.
 */
public class SortAggregateExec extends SparkPlan {
    public SortAggregateExec(
            Option<?> distribution,
            boolean streaming,
            Option<?> shufflePartitions,
            Seq<NamedExpression> grouping,
            Seq<AggregateExpression> aggregates,
            Seq<Attribute> attributes,
            int offset,
            Seq<NamedExpression> results,
            SparkPlan child) {}

    public Seq<AggregateExpression> aggregateExpressions() {
        throw new UnsupportedOperationException();
    }

    public Seq<Attribute> aggregateAttributes() {
        throw new UnsupportedOperationException();
    }

    public Seq<NamedExpression> resultExpressions() {
        throw new UnsupportedOperationException();
    }

    public SparkPlan child() {
        throw new UnsupportedOperationException();
    }

    public boolean supportCodegen() {
        throw new UnsupportedOperationException();
    }

    public SortAggregateExec withNewChildInternal(SparkPlan child) {
        throw new UnsupportedOperationException();
    }

    public RDD<InternalRow> doExecute() {
        throw new UnsupportedOperationException();
    }

    // What every plan has to have.

    public Seq<Attribute> output() {
        throw new UnsupportedOperationException();
    }

    public Seq<SparkPlan> children() {
        throw new UnsupportedOperationException();
    }

    public SparkPlan withNewChildrenInternal(IndexedSeq<SparkPlan> children) {
        throw new UnsupportedOperationException();
    }

    public int productArity() {
        throw new UnsupportedOperationException();
    }

    public Object productElement(int place) {
        throw new UnsupportedOperationException();
    }

    public boolean canEqual(Object other) {
        throw new UnsupportedOperationException();
    }
}
