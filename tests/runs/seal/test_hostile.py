"""A load tool's output can fail its run, but not keep it from being sealed."""

import gzip

import pytest

from apps.catalog.models import Metric
from apps.core import limits
from apps.runs.models import Event, Run, Series
from tests.fuzz import rows
from workers.protocol import wire

pytestmark = pytest.mark.django_db
BEGIN = '{"kind":"begin","tool":"failover","version":"1"}\n'


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ('{"kind":"event","event":"fault","label":"l","from":5,"to":1}', "not times in order"),
        ('{"kind":"event","event":"fault","label":"l","from":1e300}', "not times in order"),
        ('{"kind":"interval","t":1,"seconds":1e-300,"counts":{"transactions":1e300}}', "length of an interval"),
        ('{"kind":"interval","t":1,"seconds":1,"counts":{"a b":1}}', "a name is not one of a metric"),
        ('{"kind":"total","from":0,"to":1,"values":{"a b.c":1}}', "a name is not one of a metric"),
        ('{"kind":"total","from":0,"to":1,"counts":{"transactions":1e300}}', "beyond 1e+18"),
        ('{"kind":"total","from":0,"to":1e-300,"counts":{"transactions":1}}', "too close together"),
        ('{"kind":"histogram","metric":"a b","from":0,"to":1,"buckets":[[1.007,40]]}', "not a metric's key"),
        ('{"kind":"histogram","from":0,"to":1,"buckets":[[1.007,-40]]}', "negative"),
    ],
)
def test_a_line_beyond_the_grammars_bounds_is_kept_as_unparsed(line: str, says: str) -> None:
    rows.sealed((BEGIN + line + "\n").encode())
    (shown,) = Run.objects.get().unparsed_lines
    assert shown.startswith(line)
    assert says in shown


def names(count: int) -> str:
    return "{" + ",".join(f'"n{place}":1' for place in range(count)) + "}"


@pytest.mark.parametrize(
    "line",
    [
        f'{{"kind":"interval","t":1,"seconds":1,"counts":{names(5_001)}}}',
        f'{{"kind":"total","from":0,"to":1,"values":{names(50_000)}}}',
    ],
    ids=["interval", "total"],
)
def test_a_line_of_thousands_of_names_adds_none_to_the_catalog(line: str) -> None:
    rows.sealed((BEGIN + line + "\n").encode())
    assert "a report has at most 1,000 names" in Run.objects.get().unparsed_lines[0]
    assert not Metric.objects.filter(key__startswith="client.n").exists()


def test_an_output_whose_names_the_catalog_refuses_fails_the_run_which_keeps_its_samples(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    batch = wire.BatchEncoder(run=str(rows.UID))
    for t in range(3):
        batch.add_sample(node="db1", role="writer", t=t, values={"mysql.status.Questions": t})
    monkeypatch.setattr(limits, "NEW_METRICS", 3)
    report = f'{BEGIN}{{"kind":"interval","t":1,"seconds":1,"counts":{names(4)}}}\n'
    rows.sealed(report.encode() + rows.PARTED + gzip.decompress(batch.flush()[1]))
    run = Run.objects.get()
    assert (run.state, run.outcome) == ("sealed", "failed")
    assert "the values of failover.jsonl could not be stored (metrics: 4 are new; at most 3 may be)" in run.reason
    assert Series.objects.filter(run=run, metric__key="mysql.status.Questions").exists()
    assert not Metric.objects.filter(key__startswith="client.n").exists()


def test_a_disk_whose_name_is_too_long_for_derived_metrics_is_sealed_without_them() -> None:
    batch = wire.BatchEncoder(run=str(rows.UID))
    for t in range(3):
        batch.add_sample(node="db1", role="writer", t=t, values={f"host.disk.{'x' * 142}.io_time": t})
    rows.sealed(BEGIN.encode() + rows.PARTED + gzip.decompress(batch.flush()[1]))
    assert Series.objects.filter(metric__key__startswith="host.disk.x").exists()


def test_nul_is_replaced_in_every_text_of_a_report() -> None:
    nul = "a\\u0000b"
    lines = (
        f'{{"kind":"begin","tool":"{nul}","version":"{nul}"}}',
        f'{{"kind":"event","event":"{nul}","label":"{nul}","from":1,"node":"{nul}","detail":{{"{nul}":["{nul}"]}}}}',
        f'{{"kind":"check","check":"{nul}","label":"{nul}","held":false}}',
        '{"kind":"total","from":0,"to":1}',
        '{"kind":"end"}',
    )
    rows.sealed("\n".join(lines).encode() + b"\n")
    run = Run.objects.get()
    assert run.tool_version == "a\\x00b a\\x00b"
    assert "a check failed: a\\x00b" in run.reason
    event = Event.objects.get(kind="a\\x00b")
    assert (event.label, event.node, event.detail) == ("a\\x00b", "a\\x00b", {"a\\x00b": ["a\\x00b"]})


def test_nul_is_replaced_in_what_sysbench_prints() -> None:
    rows.sealed(b"sysbench 1.\x00 (using x)\nFATAL: a\x00b\n")
    run = Run.objects.get()
    assert run.tool_version == "1.\\x00"
    assert "a\\x00b" in run.reason
