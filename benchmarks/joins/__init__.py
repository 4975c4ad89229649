"""Skipping through joins."""
