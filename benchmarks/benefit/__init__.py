"""The benefit estimate: what it says is skipped against what is."""
