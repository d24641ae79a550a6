"""What the client makes of a sampler that is late, or that died."""

import sys
import time
from collections.abc import Callable, Iterator

import pytest

from splashboard.wrap import samples
from splashboard.wrap.samples import ServerSampling
from splashboard.wrap.target import LoadedServer

READ = """
import json, sys
from pathlib import Path
folder = Path(json.loads(sys.stdin.readline())["folder"])
print(json.dumps({"problem": ""}), flush=True)
"""
# Answers about a run when the one after it has ended.
LATE = (
    READ
    + """
waiting = []
for line in sys.stdin:
    run = json.loads(line).get("run")
    (folder / run).write_text(f"of {run}")
    waiting.append(json.dumps({"run": run, "files": [run], "data_bytes": len(waiting)}))
    if run == "b":
        print("\\n".join(waiting), flush=True)
"""
)
Start = Callable[[str], ServerSampling]


@pytest.fixture
def start(monkeypatch: pytest.MonkeyPatch) -> Iterator[Start]:
    """With a program that stands for the agent's."""
    started: list[ServerSampling] = []

    def begun(program: str) -> ServerSampling:
        monkeypatch.setattr(samples, "_program", lambda: [sys.executable, "-c", program])
        started.append(ServerSampling(LoadedServer(user="me")))
        return started[-1]

    yield begun
    for each in started:
        each.stop()


def ended(sampling: ServerSampling, run: str) -> tuple[list[bytes], int | None]:
    return sampling.end(run, tool="sysbench", zero=0.0, at=1.0, schema="")


def test_an_answer_that_comes_too_late_is_not_taken_for_the_next_runs(
    start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    sampling = start(LATE)
    with monkeypatch.context() as impatient:
        impatient.setattr(samples, "ANSWERS_WITHIN", 0.1)
        assert ended(sampling, "a") == ([], None)
    assert ended(sampling, "b") == ([b"of b"], 1)


def test_a_sampler_that_died_is_not_waited_for(start: Start, monkeypatch: pytest.MonkeyPatch) -> None:
    sampling = start(READ)
    monkeypatch.setattr(samples, "ANSWERS_WITHIN", 5.0)
    began = time.monotonic()
    for run in ("a", "b", "c"):
        assert ended(sampling, run) == ([], None)
    assert time.monotonic() - began < 5.0, "as long as one answer may take"
