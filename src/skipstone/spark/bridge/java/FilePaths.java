package skipstone;

import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.InputFileBlockLength;
import org.apache.spark.sql.catalyst.expressions.InputFileBlockStart;
import org.apache.spark.sql.catalyst.expressions.InputFileName;
import org.apache.spark.sql.catalyst.expressions.PlanExpression;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.execution.datasources.HadoopFsRelation;
import org.apache.spark.sql.execution.datasources.LogicalRelation;

import scala.collection.Iterator;

import java.util.HashSet;
import java.util.Set;

/** Whether a query can tell from which files its rows come; such a query reads the base. */
final class FilePaths {
    private FilePaths() {}

    /** Whether a plan or one of its subqueries asks for the name or the block of a file. */
    static boolean inPlan(LogicalPlan plan) {
        Iterator expressions = plan.expressions().iterator();
        while (expressions.hasNext()) {
            if (inExpression((Expression) expressions.next())) {
                return true;
            }
        }
        Iterator children = plan.children().iterator();
        while (children.hasNext()) {
            if (inPlan((LogicalPlan) children.next())) {
                return true;
            }
        }
        return false;
    }

    private static boolean inExpression(Expression expression) {
        if (expression instanceof InputFileName
                || expression instanceof InputFileBlockStart
                || expression instanceof InputFileBlockLength) {
            return true;
        }
        if (expression instanceof PlanExpression
                && ((PlanExpression) expression).plan() instanceof LogicalPlan
                && inPlan((LogicalPlan) ((PlanExpression) expression).plan())) {
            return true;
        }
        Iterator children = expression.children().iterator();
        while (children.hasNext()) {
            if (inExpression((Expression) children.next())) {
                return true;
            }
        }
        return false;
    }

    /** Whether a scan gives more than the table's columns, such as metadata of the files. */
    static boolean inOutput(LogicalRelation scan) {
        Set columns = new HashSet();
        String[] names = ((HadoopFsRelation) scan.relation()).schema().fieldNames();
        for (int i = 0; i < names.length; i++) {
            columns.add(names[i]);
        }
        Iterator output = scan.output().iterator();
        while (output.hasNext()) {
            if (!columns.contains(((Attribute) output.next()).name())) {
                return true;
            }
        }
        return false;
    }
}
