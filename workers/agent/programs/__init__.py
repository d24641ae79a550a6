"""Load programs of our own: child processes of the agent that print a report of JSON lines (see docs/workloads.md)."""
