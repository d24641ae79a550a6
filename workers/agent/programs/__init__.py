"""Load programs of our own: child processes of the agent that print JSON lines (docs/reference/report-format.md)."""
