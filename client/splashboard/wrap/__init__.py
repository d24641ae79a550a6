"""`splashboard run -- COMMAND`: runs a benchmark as it is, and submits what it measured."""
