"""Folders of the checkout that tests read."""

from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs"
DATA = ROOT / "tests" / "data"
RECORDINGS = DATA / "recordings"
# 24 runs of two settings of MariaDB, as `export_runs` wrote them.
EXAMPLES = DATA / "examples"
