"""Which blocks cannot match a filter, and why. Pure and vectorised."""
