"""Benchmarks: what skipstone claims about its speed, measured. ``python -m benchmarks NAME`` runs one."""
