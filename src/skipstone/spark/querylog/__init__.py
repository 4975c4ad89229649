"""The query log: recorded, spilled, stored and read."""
