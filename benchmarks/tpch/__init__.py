"""Layouts on denormalised TPC-H, by the method of SIGMOD'14 section 7."""
