"""Findings: where systems changed between releases and along history."""
