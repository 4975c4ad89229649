"""What a user can ask for, one verb per file."""
