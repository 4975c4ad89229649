"""Joins without a shuffle: which blocks of two tables are joined in one task. Pure Python."""
