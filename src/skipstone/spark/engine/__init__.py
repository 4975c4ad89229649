"""Work that grows with the data: sampling, writing, measuring, verifying."""
