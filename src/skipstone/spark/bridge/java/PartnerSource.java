package skipstone;

import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;

import java.util.Map;

/** Which tables join-induced predicates may be about. */
interface PartnerSource {
    /**
     * What is written of the table that a leaf of a plan reads; null if nothing may depend on it.
     */
    Map table(LogicalPlan leaf) throws Exception;
}
