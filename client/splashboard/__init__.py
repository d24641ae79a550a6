"""The command-line client of Splashboard. Standard library only: a gate must not fail over its own packages."""

__version__ = "0.1.0"
