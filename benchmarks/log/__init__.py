"""The query log: what recording adds to small queries."""
