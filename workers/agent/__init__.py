"""The program beside the database: claims jobs, runs load tools, samples counters, uploads what it saw."""

__version__ = "0.1.0"
