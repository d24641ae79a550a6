"""Sampling beside a command of another program: its runs' own clocks, and a server that cannot be asked."""

import io
import json
from functools import partial
from pathlib import Path

from apps.runs.samples.decode import decoded
from workers.agent.measure.clock import RunClock
from workers.agent.programs import beside
from workers.protocol.wire import EventMessage


def test_a_run_gets_the_samples_since_its_zero_on_its_own_clock(tmp_path: Path) -> None:
    clock = RunClock()
    batches = beside.BatchFiles(tmp_path, clock)
    hidden = EventMessage(kind="not_observable", label="x", starts_at=0.1, node="db1")
    batches.event(hidden)
    assert batches.end(None) is None
    for run, begun in (("first", 4.5), ("second", 8.5)):
        for second in range(int(begun) - 4, int(begun) + 1):
            batches.sample(node="db1", role="writer", t=float(second), values={"mysql.status.Questions": second})
        batches.begin(run, clock.zero + begun - 1.5)
        batches.sample(node="db1", role="writer", t=begun + 0.5, values={"mysql.status.Questions": 100})
        load = EventMessage(kind="load", label="sysbench", starts_at=begun, node="client", detail={"is_zero": True})
        found = batches.end(load)
        assert found is not None
        assert found.run == run
        read = decoded(partial(enumerate, [Path(name).read_bytes() for name in found.files]))
        (node,) = read.nodes
        assert [round(float(t), 6) for t in node.clock] == [0.0, 1.0, 2.0]
        assert read.offset == 1.5
        assert [event.kind for event in read.events] == ["not_observable", "load"]
        assert all(Path(name).stat().st_mode & 0o777 == 0o600 for name in found.files)


def test_a_server_that_cannot_be_asked_is_a_problem_in_words(tmp_path: Path) -> None:
    target = {"folder": str(tmp_path), "user": "me", "password": "swordfish", "port": 1}
    answers = io.BytesIO()
    assert beside.main(io.BytesIO(json.dumps(target).encode() + b"\n"), answers) == 1
    problem = json.loads(answers.getvalue())["problem"]
    assert "127.0.0.1:1" in problem
    assert "swordfish" not in problem


def test_an_answer_names_the_run_that_was_asked_for_also_where_it_has_no_samples() -> None:
    said: list[beside.SampledFiles] = []
    beside._follow(io.BytesIO(b'{"what": "end", "run": "a"}\n'), lambda _order: None, said.append)
    assert [(each.run, each.files) for each in said] == [("a", [])]
