"""What was measured of the host beside the runs of a stored series, and the zone of the server that was written to."""

import numpy as np
import pytest

from apps.catalog.models import System
from apps.regressions.models import Trend
from apps.regressions.trends import queries
from apps.regressions.trends.queries import TrendDetail
from apps.runs.models import Event, Run, RunNode, Series
from tests.regressions.trends.made_series import a_release, followed, runs_of
from tests.support.builders import a_metric

pytestmark = pytest.mark.django_db
RUNS = 60
RNG = np.random.default_rng(4)
# The host's slowness: spells of twenty runs.
SPELLS = np.repeat([0.0, 0.2, 0.05], 20)
SLOWED = [float(each) for each in 1000 * np.exp(-SPELLS + RNG.normal(0, 0.01, RUNS))]


def detail() -> TrendDetail:
    found = queries.detail(Trend.objects.get().pk)
    assert found is not None
    return found


def test_a_slower_host_is_no_finding_where_agents_measured_it() -> None:
    runs = runs_of(a_release("10.11.18"), SLOWED)
    for run, spell in zip(runs, SPELLS, strict=True):
        run.host = {"name": "gen", "canary": {"cpu_ms": 80 * float(np.exp(spell)), "work": "additions"}}
    Run.objects.bulk_update(runs, ["host"])
    assert followed(runs) == []
    ((name, effect),) = [(each.name, each) for each in detail().patterns.host]
    assert name == "canary"
    assert effect.low < 1 / 1.1 - 1 < effect.high
    assert not any(point.reset for point in detail().points)


def test_without_a_measure_the_same_runs_change(db: None) -> None:
    assert followed(runs_of(a_release("10.11.18"), SLOWED)) != []


def test_a_canary_that_makes_no_sense_is_not_known() -> None:
    runs = runs_of(a_release("10.11.18"), SLOWED)
    for run, own in zip(runs, [None, 3, {}, {"cpu_ms": "fast"}, {"cpu_ms": -1}, {"cpu_ms": True}] * 10, strict=True):
        run.host = {"canary": own}
    Run.objects.bulk_update(runs, ["host"])
    assert followed(runs) != []
    assert detail().patterns.host == ()


def test_stolen_time_of_the_node_that_lost_most_is_taken_out() -> None:
    """Of every third run it never changed, and stands with the node."""
    runs, metric = runs_of(a_release("10.11.18"), SLOWED), a_metric("derived.cpu.steal", unit="%")
    stolen = [100 * (1 - float(np.exp(-each - 0.1))) for each in SPELLS]
    kept = {number: {"derived.cpu.steal": own} for number, own in enumerate(stolen) if number % 3 == 0}
    RunNode.objects.bulk_create(
        RunNode(run=run, number=0, name="gen", constants=kept.get(number, {})) for number, run in enumerate(runs)
    )
    for number, own in enumerate(stolen):
        if number % 3:
            Series.objects.create(run=runs[number], metric=metric, node=0, mean=own)
            Series.objects.create(run=runs[number], metric=metric, node=1, mean=own / 2)
    assert followed(runs) == []
    (effect,) = detail().patterns.host
    assert effect.name == "stolen"
    assert effect.low < effect.effect < effect.high < -0.005


@pytest.fixture
def zoned() -> System:
    system = a_release("10.11.18")
    hardware = system.hardware_class
    system.nodes.all().delete()
    for name, zone in (("db1", "zone-a"), ("db2", "zone-b")):
        system.nodes.create(name=name, zone=zone, role="writer" if name == "db1" else "reader", hardware_class=hardware)
    return system


def written(runs: list[Run], nodes: list[str]) -> None:
    """Another server takes over late in each run."""
    for run, node in zip(runs, nodes, strict=True):
        for at, name, role in ((0.0, node, "writer"), (0.0, "proxy", "reader"), (50.0, "db1", "writer")):
            Event.objects.create(run=run, kind="role", label=name, node=name, starts_at=at, detail={"role": role})


def test_zones_that_take_turns_have_effects_of_their_own(zoned: System) -> None:
    nodes = [("db1", "db2")[run // 10 % 2] for run in range(RUNS)]
    values = 1000 * np.exp(-0.1 * np.array([node == "db2" for node in nodes]) + RNG.normal(0, 0.01, RUNS))
    runs = runs_of(zoned, [float(each) for each in values], host={"name": "gen"})
    written(runs, nodes)
    assert followed(runs) == []
    effects = {each.name: each.effect for each in detail().patterns.machines}
    assert list(effects) == ["gen, writer in zone-a", "gen, writer in zone-b"]
    assert effects["gen, writer in zone-a"] - effects["gen, writer in zone-b"] == pytest.approx(0.1, abs=0.02)


def test_a_writer_that_moved_for_good_starts_the_series_anew(zoned: System) -> None:
    nodes = ["db1"] * 30 + ["db2"] * 30
    runs = runs_of(zoned, [1000.0 + 10 * (number % 3) for number in range(RUNS)], host={"name": "gen"})
    written(runs, nodes)
    followed(runs)
    points = detail().points
    assert [(place, point.reset) for place, point in enumerate(points) if point.reset] == [
        (30, "writer's zone zone-b instead of zone-a")
    ]


def test_a_system_in_one_zone_has_no_zones_to_tell_apart(zoned: System) -> None:
    zoned.nodes.update(zone="zone-a")
    runs = runs_of(zoned, SLOWED, host={"name": "gen"})
    written(runs, ["db1", "db2"] * 30)
    followed(runs[-1:])
    assert {point.machine for point in detail().points} == {"gen"}
