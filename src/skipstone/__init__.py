"""skipstone reorganises Spark tables around the queries that people actually run."""

from skipstone.errors import SkipstoneError
from skipstone.optimize.policy import Policy
from skipstone.spark.enable import disable, enable
from skipstone.spark.session import session
from skipstone.tables import Table, table
from skipstone.workload.readers import read_queries

__all__ = ["Policy", "SkipstoneError", "Table", "disable", "enable", "read_queries", "session", "table"]
__version__ = "0.1.0"
