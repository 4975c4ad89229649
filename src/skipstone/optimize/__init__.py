"""Simulate, advise and rewrite."""
