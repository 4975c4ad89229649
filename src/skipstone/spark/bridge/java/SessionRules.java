package skipstone;

import org.apache.spark.sql.ExperimentalMethods;
import org.apache.spark.sql.catalyst.rules.Rule;
import org.apache.spark.sql.catalyst.trees.TreeNode;
import org.apache.spark.sql.classic.SparkSession;
import org.apache.spark.sql.execution.SparkStrategy;

import scala.collection.immutable.Seq;
import scala.runtime.AbstractFunction1;

/** Puts the rule into sessions, and takes it out again. */
final class SessionRules {
    private final Skipstone shim;
    private final Rule rule;
    private final SparkStrategy[] strategies;

    SessionRules(Skipstone shim, Rule rule, SparkStrategy[] strategies) {
        this.shim = shim;
        this.rule = rule;
        this.strategies = strategies;
    }

    /**
     * Puts the rule behind all rules of a session, those of others included, unless it is there,
     * and the strategies for what it makes and for joins before all others.
     */
    void install(SparkSession session) {
        ExperimentalMethods methods = session.sessionState().experimentalMethods();
        synchronized (methods) {
            for (int i = 0; i < strategies.length; i++) {
                if (!methods.extraStrategies().contains(strategies[i])) {
                    methods.extraStrategies_$eq(
                            (Seq) methods.extraStrategies().prepended(strategies[i]));
                }
            }
            if (!methods.extraOptimizations().contains(rule)) {
                methods.extraOptimizations_$eq((Seq) methods.extraOptimizations().appended(rule));
            }
        }
    }

    /** The strategies stay: there may be plans that the rule has been at. */
    void uninstall(SparkSession session) {
        ExperimentalMethods methods = session.sessionState().experimentalMethods();
        synchronized (methods) {
            methods.extraOptimizations_$eq(
                    (Seq) methods.extraOptimizations().filterNot(new IsRule(rule)));
        }
    }

    scala.Function1 installer() {
        return new Installer(shim, this);
    }

    static final class IsRule extends AbstractFunction1 {
        private final Rule rule;

        IsRule(Rule rule) {
            this.rule = rule;
        }

        public Object apply(Object other) {
            return Boolean.valueOf(other == rule);
        }
    }

    /** A rule that does nothing. */
    public static final class NoRule extends Rule {
        public TreeNode apply(TreeNode plan) {
            return plan;
        }
    }

    /**
     * Sessions made by newSession() start without the rules of their parent but share its
     * extensions. Spark asks the extensions for rules whenever it lists a session's batches, just
     * before it looks at the session's own extra rules: the moment to install ours there.
     */
    static final class Installer extends AbstractFunction1 {
        private final Skipstone shim;
        private final SessionRules rules;

        Installer(Skipstone shim, SessionRules rules) {
            this.shim = shim;
            this.rules = rules;
        }

        public Object apply(Object session) {
            if (shim.isActive()) {
                rules.install((SparkSession) session);
            }
            return new NoRule();
        }
    }
}
