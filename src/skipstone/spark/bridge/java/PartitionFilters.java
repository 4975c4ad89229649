package skipstone;

import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.expressions.AttributeReference;
import org.apache.spark.sql.catalyst.expressions.BoundReference;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.InterpretedPredicate;
import org.apache.spark.sql.execution.datasources.PartitionDirectory;
import org.apache.spark.sql.types.StructType;

import scala.collection.Iterator;
import scala.collection.immutable.Seq;
import scala.collection.mutable.ListBuffer;
import scala.runtime.AbstractFunction1;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * Filters on partition columns alone. Spark leaves them to the file index and does not evaluate
 * them again on rows, so an index must list no file that they exclude.
 */
final class PartitionFilters {
    private PartitionFilters() {}

    /** The directories whose values satisfy all filters. */
    static Seq keep(Seq directories, Seq filters, StructType columns) {
        if (columns.isEmpty()) {
            return directories;
        }
        List predicates = new ArrayList();
        Iterator all = filters.iterator();
        while (all.hasNext()) {
            predicates.add(bound((Expression) all.next(), columns));
        }
        ListBuffer out = new ListBuffer();
        Iterator found = directories.iterator();
        while (found.hasNext()) {
            PartitionDirectory directory = (PartitionDirectory) found.next();
            if (hold(predicates, directory.values())) {
                out.addOne(directory);
            }
        }
        return out.toList();
    }

    /** The conjuncts that read columns of partitions alone, and no other plan. */
    static Seq among(Expression condition, StructType columns) {
        List conjuncts = new ArrayList();
        ScanQuestion.split(condition, conjuncts);
        List names = Arrays.asList(columns.fieldNames());
        ListBuffer out = new ListBuffer();
        for (int i = 0; i < conjuncts.size(); i++) {
            Expression conjunct = (Expression) conjuncts.get(i);
            boolean alone = conjunct.deterministic() && !ScanQuestion.hasPlan(conjunct);
            Iterator read = conjunct.references().iterator();
            alone = alone && read.hasNext();
            while (alone && read.hasNext()) {
                alone = names.contains(((Attribute) read.next()).name());
            }
            if (alone) {
                out.addOne(conjunct);
            }
        }
        return out.toList();
    }

    private static InterpretedPredicate bound(Expression filter, StructType columns) {
        Object bound = new Bind(columns).apply(filter);
        InterpretedPredicate predicate = new InterpretedPredicate((Expression) bound);
        predicate.initialize(0);
        return predicate;
    }

    private static boolean hold(List predicates, InternalRow values) {
        for (int i = 0; i < predicates.size(); i++) {
            if (!((InterpretedPredicate) predicates.get(i)).eval(values)) {
                return false;
            }
        }
        return true;
    }

    /** Replaces columns by their place among the values, as Spark does for its own indexes. */
    static final class Bind extends AbstractFunction1 {
        private final StructType columns;

        Bind(StructType columns) {
            this.columns = columns;
        }

        public Object apply(Object node) {
            if (node instanceof AttributeReference) {
                int index = columns.fieldIndex(((AttributeReference) node).name());
                return new BoundReference(index, columns.apply(index).dataType(), true);
            }
            return ((Expression) node).mapChildren(this);
        }
    }
}
