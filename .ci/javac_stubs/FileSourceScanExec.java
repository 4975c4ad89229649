package org.apache.spark.sql.execution;

import org.apache.spark.rdd.RDD;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.TableIdentifier;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.connector.read.streaming.SparkDataStream;
import org.apache.spark.sql.execution.datasources.HadoopFsRelation;
import org.apache.spark.sql.execution.metric.SQLMetric;
import org.apache.spark.sql.internal.SQLConf;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.util.collection.BitSet;

import scala.Option;
import scala.collection.immutable.IndexedSeq;
import scala.collection.immutable.Map;
import scala.collection.immutable.Seq;

/**
 * Stands for Spark's class when javac checks ours, and is never run. No Java class can extend the
 * real one in javac's eyes: the methods that Scala mixes into it have lost their type arguments.
 * Only what our sources use is here, as the real class has it.
 */
public class FileSourceScanExec extends SparkPlan {
    public FileSourceScanExec(
            HadoopFsRelation relation,
            Option<SparkDataStream> stream,
            Seq<Attribute> output,
            StructType requiredSchema,
            Seq<Expression> partitionFilters,
            Option<BitSet> bucketSet,
            Option<Object> coalescedBuckets,
            Seq<Expression> dataFilters,
            Option<TableIdentifier> tableIdentifier,
            boolean disableBucketedScan) {}

    public HadoopFsRelation relation() {
        throw new UnsupportedOperationException();
    }

    public Option<SparkDataStream> stream() {
        throw new UnsupportedOperationException();
    }

    public StructType requiredSchema() {
        throw new UnsupportedOperationException();
    }

    public Seq<Expression> partitionFilters() {
        throw new UnsupportedOperationException();
    }

    public Option<BitSet> optionalBucketSet() {
        throw new UnsupportedOperationException();
    }

    public Option<Object> optionalNumCoalescedBuckets() {
        throw new UnsupportedOperationException();
    }

    public Seq<Expression> dataFilters() {
        throw new UnsupportedOperationException();
    }

    public Option<TableIdentifier> tableIdentifier() {
        throw new UnsupportedOperationException();
    }

    public boolean disableBucketedScan() {
        throw new UnsupportedOperationException();
    }

    public boolean bucketedScan() {
        throw new UnsupportedOperationException();
    }

    public FileSourceScanExec doCanonicalize() {
        throw new UnsupportedOperationException();
    }

    public Map<String, SQLMetric> driverMetrics() {
        throw new UnsupportedOperationException();
    }

    public ScanFileListing selectedPartitions() {
        throw new UnsupportedOperationException();
    }

    public ScanFileListing dynamicallySelectedPartitions() {
        throw new UnsupportedOperationException();
    }

    public SQLConf getSqlConf(SparkSession session) {
        throw new UnsupportedOperationException();
    }

    public RDD<InternalRow> inputRDD() {
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
