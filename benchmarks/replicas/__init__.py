"""Replicas: what they add to the planning of a query."""
