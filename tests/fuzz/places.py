"""Where a target's corpus lies, and where a search writes."""

from pathlib import Path

from tests.paths import ROOT

CORPUS = ROOT / "tests" / "fuzz" / "data"


def corpus(name: str) -> Path:
    return CORPUS / name


def work(name: str) -> Path:
    """Ignored by git."""
    return ROOT / "var" / "fuzz" / name
