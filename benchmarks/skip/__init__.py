"""Skipping itself: deciding, planning, indexing."""
