"""What the server costs and how fast it answers."""
