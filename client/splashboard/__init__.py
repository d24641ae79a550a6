"""Splashboard's client: the command `splashboard`, and `Splashboard` for Python programs.

Standard library only: a gate must not fail over its own packages.
"""

__version__ = "0.1.0"  # before the imports: modules read it

from splashboard.client import GateAnswer, RunAnswer, SeriesAnswer, Splashboard
from splashboard.comparisons import ComparedPair, ComparisonAnswer
from splashboard.failures import Failure, Misuse, RefusedField, RequestRefused, ServerUnreachable
from splashboard.listing import Listing

__all__ = [
    "ComparedPair",
    "ComparisonAnswer",
    "Failure",
    "GateAnswer",
    "Listing",
    "Misuse",
    "RefusedField",
    "RequestRefused",
    "RunAnswer",
    "SeriesAnswer",
    "ServerUnreachable",
    "Splashboard",
]
