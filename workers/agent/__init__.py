"""The agent, a program beside the database: claims jobs, runs load tools, samples counters and uploads the results."""

__version__ = "0.1.0"
