"""Parsers of files attached to a run."""
