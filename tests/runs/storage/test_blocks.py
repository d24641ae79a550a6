"""What is written of a run is what is read, to the bit; what is damaged is named and the rest stays readable."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest
from django.db import connection
from hypothesis import HealthCheck, given
from hypothesis import strategies as st
from hypothesis.extra.django import TestCase

from apps.catalog.services import metrics_for
from apps.runs.ingest import accept
from apps.runs.models import Block, Run, RunNode, Series
from apps.runs.samples.columns import SampledNode
from apps.runs.samples.rates import Phase
from apps.runs.storage import blocks, codec
from apps.runs.storage.codec import Number
from tests.examples import examples
from tests.runs.uploads import a_minute, an_upload
from tests.support.builders import a_run

NUMBERS = (
    st.none()
    | st.integers(min_value=-(2**63), max_value=2**63 - 1)
    | st.integers(min_value=0, max_value=100)
    | st.floats(allow_nan=False, allow_infinity=False)
)


@st.composite
def nodes(draw: st.DrawFn, name: str) -> SampledNode:
    """Uneven clocks, gaps, integers of 64 bits, decimals, series of one value."""
    times = draw(st.lists(st.floats(min_value=0, max_value=1e5), min_size=1, max_size=20, unique=True).map(sorted))
    changing, constants = {}, {}
    for key in draw(st.lists(st.sampled_from("abcdef"), unique=True)):
        values = draw(st.lists(NUMBERS, min_size=len(times), max_size=len(times)))
        if len(set(values)) == 1 and type(values[0]) is int:
            constants[key] = values[0]
        else:
            changing[key] = codec.column(values)
    return SampledNode(name=name, role="writer", clock=np.array(times), changing=changing, constants=constants)


def written(*of: SampledNode) -> Run:
    run = a_run()
    keys = {key for node in of for key in (*node.changing, *node.constants)}
    blocks.write(run=run, nodes=of, metrics=metrics_for(keys), phase=Phase(2.0, 10.0))
    return run


def plain(node: SampledNode) -> dict[str, Any]:
    return {
        "clock": node.clock.tolist(),
        "changing": {key: _samples(column) for key, column in node.changing.items()},
        "constants": dict(node.constants),
        "damaged": dict(node.damaged),
    }


def _samples(column: codec.Column) -> tuple[str, list[Number]]:
    pairs = zip(column.values.tolist(), column.observed.tolist(), strict=True)
    return str(column.values.dtype), [value if seen else None for value, seen in pairs]


class TestRoundTrip(TestCase):
    @examples(60, suppress_health_check=[HealthCheck.too_slow])
    @given(nodes("db1"), nodes("db2"))
    def test_what_is_written_is_read_to_the_bit(self, one: SampledNode, other: SampledNode) -> None:
        run = written(one, other)
        found = blocks.read([run.pk])[run.pk]
        assert [(node.name, plain(node)) for node in found] == [("db1", plain(one)), ("db2", plain(other))]
        asked = blocks.read([run.pk], ["a", "c"], ["db2"])[run.pk]
        assert [(node.name, plain(node)) for node in asked] == [("db2", plain(only(other, "a", "c")))]


def only(node: SampledNode, *keys: str) -> SampledNode:
    def chosen(of: Mapping[str, Any]) -> dict[str, Any]:
        return {key: value for key, value in of.items() if key in keys}

    return SampledNode(node.name, node.role, node.clock, chosen(node.changing), chosen(node.constants))


@pytest.mark.django_db
def test_a_corrupt_series_is_named_and_the_others_stay_readable(caplog: pytest.LogCaptureFixture) -> None:
    run = an_upload(nodes={"db1": a_minute(), "db2": a_minute()}).send()
    accept.seal(run_id=run.pk)
    before = {node.name: plain(node) for node in blocks.read([run.pk])[run.pk]}
    row = Series.objects.get(metric__key="mysql.status.Questions", node=2)
    flip_a_bit(run, node=2, byte=row.offset + row.length // 2)
    after = {node.name: plain(node) for node in blocks.read([run.pk])[run.pk]}
    said = f"the stored samples of mysql.status.Questions on db2 in run {run.pk} are damaged"
    assert after["db2"]["damaged"]["mysql.status.Questions"].startswith(said)
    assert said in caplog.text
    del after["db2"]["damaged"], before["db2"]["damaged"], before["db2"]["changing"]["mysql.status.Questions"]
    assert after == before


def flip_a_bit(run: Run, *, node: int, byte: int) -> None:
    with connection.cursor() as cursor:
        cursor.execute(
            "UPDATE runs_block SET data = set_byte(data, %s, get_byte(data, %s) # 1) WHERE run_id = %s AND node = %s",
            [byte, byte, run.pk, node],
        )


@pytest.mark.django_db
@pytest.mark.parametrize("length", [0, 5, 40])
def test_a_block_cut_short_or_lost_spares_what_is_whole(length: int) -> None:
    run = an_upload().send()
    accept.seal(run_id=run.pk)
    block = Block.objects.get(run=run, node=1)
    Block.objects.filter(run=run, node=1).update(data=bytes(block.data or b"")[:length])
    (_, db1) = blocks.read([run.pk])[run.pk]
    whole = Series.objects.filter(run=run, node=1, offset__lte=length - 1).count()
    assert len(db1.damaged) >= 2 - whole
    assert db1.constants["mysql.status.Max_used_connections"] == 7
    Block.objects.filter(run=run, node=1).delete()
    (_, db1) = blocks.read([run.pk], ["mysql.status.Questions"])[run.pk]
    assert list(db1.damaged) == ["mysql.status.Questions"]


@pytest.mark.django_db
def test_a_damaged_clock_damages_its_node_alone() -> None:
    run = an_upload(nodes={"db1": a_minute(), "db2": a_minute()}).send()
    accept.seal(run_id=run.pk)
    RunNode.objects.filter(run=run, name="db1").update(clock=b"f nonsense")
    client, db1, db2 = blocks.read([run.pk])[run.pk]
    assert set(db1.damaged) >= {"mysql.status.Questions", "mysql.status.Max_used_connections"}
    assert not db1.changing
    assert not client.damaged
    assert not db2.damaged


@pytest.mark.django_db
def test_series_with_equal_increments_share_their_bytes() -> None:
    clock = np.arange(50, dtype=np.float64)
    steps = np.random.default_rng(5).integers(0, 9, 50).cumsum()
    seen = np.ones(50, np.bool_)
    columns = {key: codec.Column(steps + base, seen) for key, base in (("a", 0), ("b", 2**40), ("c", -7))}
    run = written(SampledNode("db1", "writer", clock, columns))
    assert Series.objects.filter(run=run).values("offset", "length").distinct().count() == 1
    (node,) = blocks.read([run.pk])[run.pk]
    assert all(node.changing[key].same_as(column) for key, column in columns.items())


@pytest.mark.django_db
def test_samples_that_were_moved_are_asked_of_the_archive() -> None:
    run = an_upload().send()
    accept.seal(run_id=run.pk)
    Block.objects.update(data=None)
    for keys in (None, ["mysql.status.Questions"]):
        with pytest.raises(blocks.Moved, match=f"run {run.pk}"):
            blocks.read([run.pk], keys)


@pytest.mark.django_db
def test_statistics_cover_the_measured_phase_and_the_whole_run() -> None:
    values = [0, 0, 0, 10, 20, 30, 40, 0]
    run = written(gauge(values))
    row = Series.objects.get(run=run)
    # The phase is [2, 10): without the first two samples.
    assert [row.count, row.first, row.last, row.maximum, row.mean] == [6, 0, 0, 40, float(np.mean(values[2:]))]
    assert [row.whole_count, row.whole_minimum, row.whole_mean] == [8, 0, float(np.mean(values))]
    assert row.p95 == pytest.approx(np.percentile(values[2:], 95))
    assert row.whole_p50 == pytest.approx(np.percentile(values, 50))
    assert row.whole_stddev == pytest.approx(np.std(values))


def gauge(values: list[int]) -> SampledNode:
    clock = np.arange(len(values), dtype=np.float64)
    return SampledNode("db1", "writer", clock, {"mysql.status.Threads_running": codec.column(values)})


@pytest.mark.django_db
def test_constants_of_a_node_are_found_whatever_other_nodes_have() -> None:
    moving = codec.column([1, 2, 3])
    clock = np.arange(3, dtype=np.float64)
    run = written(
        SampledNode("db1", "writer", clock, {"a": moving}, {"b": 7}),
        SampledNode("db2", "writer", clock, {"a": moving, "b": moving}),
    )
    for names in (["db1"], ["db1", "db2"], None):
        found = {node.name: node for node in blocks.read([run.pk], ["a", "b"], names)[run.pk]}
        assert found["db1"].constants == {"b": 7}
