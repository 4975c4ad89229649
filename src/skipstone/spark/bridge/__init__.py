"""Catalyst, optimizer rules and file indexes: how Spark's plans and skipstone's predicates meet."""
