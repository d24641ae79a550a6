"""The page about Python and the notebook are run as they stand, against a server with runs named as in the examples."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from apps.runs.models import Run
from splashboard import Splashboard
from tests.paths import DOCS
from tests.rest.submissions import POINT_SELECT

PAGE = DOCS / "howto" / "use-from-python.md"
NOTEBOOK = json.loads((DOCS / "howto" / "notebook.ipynb").read_text())


def executed(codes: list[str]) -> dict[str, Any]:
    """The names that they leave."""
    names: dict[str, Any] = {}
    for code in codes:
        exec(compile(code, "docs", "exec"), names)
    return names


def test_the_snippets_of_the_page_run_one_after_another(
    study: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "sysbench.txt").write_bytes(POINT_SELECT.read_bytes())
    monkeypatch.chdir(tmp_path)
    names = executed(re.findall(r"^```python\n(.*?)^```$", PAGE.read_text(), re.MULTILINE | re.DOTALL))
    printed = capsys.readouterr().out
    assert names["workload"].id == study
    assert re.search(r"^example-galera, 4 threads: 0\.600 \[0\.5\d+, 0\.6\d+\], worse$", printed, re.MULTILINE)
    assert "400 side there is no system 'no-such-system'" in printed
    submitted = Run.objects.get(provenance="submitted")
    assert f"{submitted.pk} " in printed
    assert submitted.tags == ["nightly"]


def test_the_page_names_every_method_and_column() -> None:
    page = PAGE.read_text()
    methods = [name for name in vars(Splashboard) if not name.startswith("_") and name != "url"]
    assert [name for name in methods if f"`{name}(" not in page] == []


def test_the_notebook_draws_the_intervals_that_the_server_gave(study: int) -> None:
    codes = ["".join(cell["source"]) for cell in NOTEBOOK["cells"] if cell["cell_type"] == "code"]
    names = executed(codes)
    pairs = [pair for pair in names["comparison"].pairs() if pair.primary]
    assert len(pairs) == 4
    drawn = {
        (trace.name, threads): (ratio, ratio - down, ratio + up)
        for trace in names["figure"].data
        for threads, ratio, down, up in zip(
            trace.x, trace.y, trace.error_y.arrayminus, trace.error_y.array, strict=True
        )
    }
    assert drawn == {
        (pair.system, pair.threads): pytest.approx((pair.ratio, pair.ratio_low, pair.ratio_high)) for pair in pairs
    }
    assert list(names["seconds"].data[0].y) == names["samples"]["value"].tolist()
    assert names["samples"]["unit"].unique().tolist() == ["transactions/s"]


def test_the_notebook_is_small_and_stored_without_outputs() -> None:
    assert (NOTEBOOK["nbformat"], NOTEBOOK["nbformat_minor"]) == (4, 5)
    assert len(json.dumps(NOTEBOOK)) < 10_000
    assert all(not cell["outputs"] for cell in NOTEBOOK["cells"] if cell["cell_type"] == "code")
    assert len({cell["id"] for cell in NOTEBOOK["cells"]}) == len(NOTEBOOK["cells"])
