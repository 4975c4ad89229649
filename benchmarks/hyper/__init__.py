"""Hyper-partitioning of TPC-H's lineitem: how evenly it serves all columns, and what it costs."""
