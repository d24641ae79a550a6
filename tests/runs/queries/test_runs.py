import json
from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest
from django.db import connection
from django.db.models import QuerySet
from pytest_django import DjangoAssertNumQueries

from apps.catalog.models import HardwareClass, Platform, Release
from apps.catalog.services import metrics_for
from apps.dispatch.models import Campaign, Job, JobRun
from apps.runs import queries
from apps.runs.ingest import accept
from apps.runs.models import Artifact, Measurement, Run
from apps.runs.queries import RunFilter, run_list
from tests.runs.uploads import OUTPUT, an_upload
from tests.support.builders import START, a_load_level, a_run, a_system, a_workload
from workers.protocol import wire

pytestmark = pytest.mark.django_db


def measured(run: Run, **values: float) -> Run:
    artifact = Artifact.objects.create(run=run, name="sysbench.txt", sha256="0" * 64, size=10)
    keys = {"throughput": "client.throughput", "p95": "client.latency.p95"}
    metrics = metrics_for(keys.values())
    for name, value in values.items():
        Measurement.objects.create(
            run=run,
            metric=metrics[keys[name]],
            value=value,
            artifact=artifact,
            byte_start=0,
            byte_end=5,
            parser="sysbench",
            parser_version="1",
        )
    return run


def in_campaign(run: Run) -> Campaign:
    campaign = Campaign.objects.create(name="nightly", repetitions=1)
    entry = campaign.entries.create(place=0, workload=run.workload, duration=10)
    job = Job.objects.create(
        campaign=campaign,
        entry=entry,
        system=run.system,
        workload=run.workload,
        repetition=1,
        position=1,
        attempt=1,
    )
    JobRun.objects.create(run=run, job=job, attempt=1)
    return campaign


def ids(**fields: Any) -> list[int]:
    return [row.id for row in queries.list_runs(RunFilter(**fields))]


def test_a_row_says_what_was_run_on_what_and_how_fast_it_was() -> None:
    run = measured(a_run(load_level=a_load_level(8, 200), tags=["x"]), throughput=1234.5, p95=5.67)
    campaign = in_campaign(run)
    (row,) = queries.list_runs(RunFilter())
    assert (row.id, row.platform_slug, row.release, row.hardware_slug) == (run.pk, "mariadb", "10.11.19", "small")
    assert (row.system_slug, row.workload_name) == (run.system.slug, "oltp_write_only")
    assert (row.load_level, row.threads, row.rate) == ("8 threads, 200/s", 8, 200)
    assert (row.throughput, row.throughput_unit, row.p95, row.p95_unit) == (1234.5, "transactions/s", 5.67, "ms")
    assert (row.state, row.outcome, row.provenance, row.tags) == ("sealed", "succeeded", "agent", ("x",))
    assert (row.campaign_id, row.campaign_name) == (campaign.pk, "nightly")


def test_a_run_without_headlines_and_campaign_is_listed_all_the_same() -> None:
    a_run(state="open", outcome="", ended_at=None, sealed_at=None)
    (row,) = queries.list_runs(RunFilter())
    assert (row.throughput, row.p95, row.campaign_id, row.state) == (None, None, None, "open")


def test_the_newest_come_first_and_pages_follow_each_other() -> None:
    runs = [a_run().pk for _ in range(5)]
    first = [row.id for row in queries.list_runs(RunFilter(), limit=2)]
    assert first == [runs[4], runs[3]]
    assert [row.id for row in queries.list_runs(RunFilter(), limit=2, before=first[-1])] == [runs[2], runs[1]]
    assert queries.list_runs(RunFilter(), before=runs[0]) == []
    assert queries.list_runs(RunFilter(), before=max(runs) + 1) == []


def test_a_run_stored_late_is_listed_by_when_it_started() -> None:
    measured_here = [a_run(started_at=START + timedelta(hours=hour)).pk for hour in (5, 5, 6)]
    imported = [a_run(started_at=START + timedelta(hours=hour)).pk for hour in (7, 4, 5)]
    expected = [imported[0], measured_here[2], imported[2], measured_here[1], measured_here[0], imported[1]]
    assert ids() == expected
    walked: list[int] = []
    while found := queries.list_runs(RunFilter(), limit=1, before=walked[-1] if walked else None):
        walked += [row.id for row in found]
    assert walked == expected


@pytest.mark.parametrize("order", queries.ORDERS)
def test_every_order_walks_over_all_runs_once_with_missing_values_last(order: str) -> None:
    systems = [a_system(slug) for slug in ("beta", "alpha")]
    made = [
        measured(a_run(system=systems[number % 2], repetition=number % 3 + 1), throughput=number % 4, p95=number / 7)
        for number in range(6)
    ]
    without = [a_run(system=systems[0], repetition=1, started_at=START - timedelta(days=1)) for _ in range(2)]
    listed = [row.id for row in queries.list_runs(RunFilter(), order=order)]
    walked: list[int] = []
    while found := queries.list_runs(RunFilter(), limit=3, before=walked[-1] if walked else None, order=order):
        walked += [row.id for row in found]
    assert walked == listed
    assert sorted(listed) == sorted(run.pk for run in (*made, *without))
    if order.removeprefix("-") in ("throughput", "p95"):
        assert listed[-2:] == [without[1].pk, without[0].pk]
    assert queries.list_runs(RunFilter(), before=max(listed) + 1, order=order) == []


def test_an_order_is_that_of_its_column() -> None:
    fast, slow = measured(a_run(), throughput=10.0), measured(a_run(), throughput=9.0)
    for order, expected in (("throughput", [slow, fast]), ("-throughput", [fast, slow]), ("run", [fast, slow])):
        assert [row.id for row in queries.list_runs(RunFilter(), order=order)] == [run.pk for run in expected]


def test_every_filter_restricts() -> None:
    pxc = Platform.objects.create(slug="pxc", name="Percona XtraDB Cluster")
    release = Release.objects.create(platform=pxc, version="8.0.36", version_key=[8, 0, 36])
    large = HardwareClass.objects.create(slug="large", name="large box")
    other = a_run(
        pk=987_654,
        system=a_system("the-cluster", release=release, hardware_class=large),
        workload=a_workload("oltp_read_only"),
        load_level=a_load_level(16),
        tags=["night", "weekly"],
        state="open",
        outcome="",
        ended_at=None,
        sealed_at=None,
        provenance="submitted",
        started_at=START + timedelta(days=2),
        server_version="8.0.36-28.1",
    )
    plain = a_run(tags=["night"])
    for fields in (
        {"platforms": ("pxc",)},
        {"releases": (release.pk,)},
        {"hardware": ("large",)},
        {"workloads": (other.workload_id,)},
        {"threads": (16, 32)},
        {"systems": ("the-cluster", "nothing")},
        {"tags": ("night", "weekly")},
        {"states": ("open", "ended")},
        {"provenances": ("submitted",)},
        {"since": START + timedelta(days=1)},
        {"text": "percona"},
        {"text": "8.0.36-28 read_only"},
        {"text": "weekly"},
        {"text": str(other.pk)},
        {"platforms": ("pxc",), "states": ("open",), "tags": ("night",)},
    ):
        assert ids(**fields) == [other.pk], fields
    assert ids(outcomes=("succeeded",)) == ids(until=START + timedelta(days=1)) == [plain.pk]
    assert ids(tags=("night",)) == ids() == [other.pk, plain.pk]
    assert ids(platforms=("pxc",), states=("sealed",)) == ids(text="percona 10.11") == ids(text="9" * 30) == []


@pytest.mark.parametrize("runs", [1, 20])
def test_the_list_takes_six_queries_however_long(django_assert_num_queries: DjangoAssertNumQueries, runs: int) -> None:
    for _ in range(runs):
        measured(a_run(), throughput=1, p95=2)
    with django_assert_num_queries(6):
        assert len(queries.list_runs(RunFilter(platforms=("mariadb",), text="oltp"))) == runs


def a_sealed_upload(**what: Any) -> Run:
    run = an_upload(**what).send()
    assert accept.seal(run_id=run.pk)
    return run


def test_the_page_of_a_run_has_all_of_it() -> None:
    event = wire.EventMessage(kind="ddl", label="ALTER", starts_at=3.0)
    run = a_sealed_upload(events=[event], output=b"strange\n" + OUTPUT)
    in_campaign(run)
    other = a_run(system=run.system, workload=run.workload, load_level=run.load_level)
    a_run(system=run.system, workload=run.workload, load_level=a_load_level(64))
    detail = queries.load_run(run.pk)
    assert detail.uid == run.uid
    assert (detail.row.id, detail.row.throughput, detail.row.campaign_name) == (run.pk, 1192.63, "nightly")
    assert (detail.attempt, detail.primary_metric) == (1, "client.throughput")
    assert [(node.number, node.name, node.samples, node.variables) for node in detail.nodes] == [
        (0, "client", 20, None),
        (1, "db1", 21, {"port": "3306"}),
    ]
    assert [(one.kind, one.starts_at, one.ends_at) for one in detail.events] == [("ddl", 3.0, None)]
    (artifact,) = detail.artifacts
    assert (artifact.name, artifact.size) == ("sysbench.txt", len(OUTPUT) + 8)
    assert detail.unparsed_lines == ("strange",)
    assert [row.id for row in detail.siblings] == [other.pk]
    p95 = detail.measurement("client.latency.p95")
    assert p95 is not None
    assert (p95.value, p95.unit, p95.direction, p95.parser, p95.parser_version) == (
        5.67,
        "ms",
        "lower",
        "sysbench",
        "3",
    )
    assert p95.sha256 == artifact.sha256
    assert (b"strange\n" + OUTPUT)[p95.byte_start : p95.byte_end] == b"5.67"
    assert detail.measurement("client.nothing") is None
    assert detail.system.settings == run.system.settings


def test_a_run_that_is_not_there_is_said_so() -> None:
    with pytest.raises(Run.DoesNotExist):
        queries.load_run(1)


def test_an_old_run_of_many_is_no_sibling_of_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    what = {"system": a_system(), "workload": a_workload(), "load_level": a_load_level()}
    runs = [a_run(**what).pk for _ in range(4)]
    monkeypatch.setattr("apps.runs.queries.detail.MOST_SIBLINGS", 2)
    detail = queries.load_run(runs[0])
    assert detail.row.id == runs[0]
    assert [row.id for row in detail.siblings] == [runs[3], runs[2]]


@pytest.mark.parametrize("others", [0, 10])
def test_the_page_takes_the_same_queries_however_much_it_shows(
    django_assert_num_queries: DjangoAssertNumQueries, others: int
) -> None:
    run = a_sealed_upload()
    for _ in range(others):
        a_run(system=run.system, workload=run.workload, load_level=run.load_level)
    with django_assert_num_queries(11):
        queries.load_run(run.pk)


def test_headline_values_of_many_runs_in_one_query(django_assert_num_queries: DjangoAssertNumQueries) -> None:
    first, second = measured(a_run(), throughput=10, p95=2), measured(a_run(), throughput=20)
    with django_assert_num_queries(1):
        found = queries.measurements([first.pk, second.pk], ["client.throughput", "client.latency.p95"])
    assert [(value.run_id, value.metric, value.value, value.unit) for value in found] == [
        (first.pk, "client.latency.p95", 2, "ms"),
        (first.pk, "client.throughput", 10, "transactions/s"),
        (second.pk, "client.throughput", 20, "transactions/s"),
    ]


def many_runs() -> list[Run]:
    """Two thousand runs of 40 systems x 5 workloads, of which few are open or tagged."""
    systems = [a_system() for _ in range(40)]
    workloads = [a_workload(tables=number) for number in range(1, 6)]
    level = a_load_level()
    rows = Run.objects.bulk_create(
        Run(
            uid=uuid4(),
            system=systems[number % 40],
            workload=workloads[number // 40 % 5],
            load_level=level,
            provenance="agent",
            state="sealed" if number % 100 else "ended",
            outcome="succeeded",
            started_at=START + timedelta(minutes=number),
            ended_at=START + timedelta(minutes=number + 1),
            tags=["rare"] if number % 500 == 0 else [],
        )
        for number in range(2000)
    )
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE runs_run, catalog_system, catalog_workload, catalog_release, catalog_platform")
    return rows


def scans(rows: QuerySet[Any, Any]) -> set[str]:
    """How the plan reads runs_run."""
    (plan,) = json.loads(rows.explain(format="json"))

    def walk(node: dict[str, Any]) -> set[str]:
        own = {node["Node Type"]} if node.get("Relation Name") == "runs_run" else set()
        return own.union(*(walk(child) for child in node.get("Plans", [])))

    return walk(plan["Plan"])


def test_runs_are_read_by_indexes() -> None:
    run = many_runs()[1234]
    for fields in (
        {},
        {"states": ("open", "ended")},
        {"tags": ("rare",)},
        {"provenances": ("agent",)},
        {"since": START, "until": START + timedelta(minutes=30)},
        {"systems": (run.system.slug,), "workloads": (run.workload_id,)},
    ):
        chosen = run_list._filtered(RunFilter(**fields)).order_by(*run_list.NEWEST_FIRST)[:50]
        found = scans(chosen.values(*run_list.OWN, **run_list.COLUMNS))
        assert found, fields
        assert "Seq Scan" not in found, fields
    alike = Run.objects.filter(system=run.system, workload=run.workload, load_level=run.load_level)
    assert "Seq Scan" not in scans(alike.order_by("-started_at")[:50])
    assert "Seq Scan" not in scans(Run.objects.filter(state="ended"))
