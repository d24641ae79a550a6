"""When a tool's clock began, as an agent knows that read its lines late."""

import pytest

from workers.agent.measure.clock import RunClock
from workers.agent.measure.measurement import ToolLoad
from workers.agent.programs import report
from workers.agent.tools import Invocation, Tool
from workers.agent.tools.generators import AsyncLoad
from workers.agent.tools.sysbench import Sysbench


class HeldClock(RunClock):
    seconds = 0.0

    def now(self) -> float:
        return self.seconds


def a_load(tool: Tool) -> tuple[ToolLoad, HeldClock]:
    clock = HeldClock()
    return ToolLoad(tool, Invocation(("tool",), timeout=60, warmup=5, measured=20), clock), clock


def read(load: ToolLoad, clock: HeldClock, lines: list[tuple[float, bytes]]) -> None:
    for clock.seconds, line in lines:
        load.saw(line)
    load.ended()


def intervals(*, began: float, read_from: float) -> list[tuple[float, bytes]]:
    """sysbench's lines of 25 seconds; nothing is read before `read_from`."""
    lines = [(began, b"Threads started!"), *((began + s + 0.001, b"[ %ds ] thds: 4 tps: 1" % s) for s in range(1, 26))]
    return [(max(at, read_from), line) for at, line in lines]


def test_an_agent_that_got_no_processor_for_20_s_still_knows_when_the_load_began() -> None:
    load, clock = a_load(Sysbench())
    read(load, clock, intervals(began=2.0, read_from=22.0))
    assert load.zero == pytest.approx(2.0, abs=0.01)
    assert load.measured() == pytest.approx((7.0, 27.0), abs=0.01)
    late = load.late()
    assert late is not None
    assert "read up to 19.0 s late" in late.label
    assert late.starts_at == pytest.approx(3.0, abs=0.01)
    assert late.ends_at == 22.0


def test_lines_that_were_read_at_once_are_not_said_to_be_late() -> None:
    load, clock = a_load(Sysbench())
    read(load, clock, intervals(began=2.0, read_from=0.0))
    assert (load.zero, load.late()) == (2.0, None)


def test_a_program_that_states_its_second_0_is_believed(capsys: pytest.CaptureFixture[str]) -> None:
    load, clock = a_load(AsyncLoad())
    report.emit_begin("asyncload", zero=clock.zero + 3.25)
    begin = capsys.readouterr().out.encode()
    read(load, clock, [(15.0, begin), (15.0, b'{"kind":"interval","t":1.0,"seconds":1.0}')])
    assert load.zero == pytest.approx(3.25, abs=1e-5)
