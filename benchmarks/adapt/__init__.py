"""What adapting a tree to a workload gains, what it rewrites, and how near it comes to a qd-tree."""
