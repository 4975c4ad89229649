"""The self-organising table: a timeline of inserts and scans, replayed by four contestants."""
