"""In what sides differ: all of it, the important first, and what of it withholds the verdict."""

from collections.abc import Callable
from datetime import date, timedelta
from decimal import Decimal
from functools import partial
from typing import Any

import pytest
from django.db import transaction
from django.db.models import Model

from apps.catalog.models import HardwareClass, Node, Platform, Release, System, Workload
from apps.comparison import compare
from apps.comparison.comparability.differences import (
    ACCEPTABLE,
    Difference,
    Fact,
    FieldGroup,
    Weight,
    blocking_differences,
    differences,
    differing_entries,
)
from apps.comparison.values import Comparison
from apps.core.canonical import canonical_hash
from apps.dispatch.models import Campaign, JobRun
from apps.runs.models import Configuration, Run, RunNode
from tests.support.builders import START, a_job, a_load_level, a_measured_run, a_metric, a_system, a_workload

TPS = "client.throughput"


def a_fact(
    text: str, *, group: FieldGroup = FieldGroup.HARDWARE, weight: Weight = Weight.WITHHOLDS, **fields: Any
) -> Fact:
    return Fact("field", "Field", group, weight, (text,), **fields)


def test_sizes_nearer_than_their_tolerance_are_no_difference() -> None:
    def found(*sizes: float | None) -> tuple[Difference, ...]:
        return differences([[a_fact(f"{size} bytes", number=size, tolerance=0.1)] for size in sizes])

    assert found(100, 109, 105) == ()
    assert len(found(100, 111)) == 1
    assert len(found(100, None)) == 1
    assert len(found(0, 0.001)) == 1


def test_a_field_that_only_some_sides_have_is_a_difference_with_a_word_for_the_others() -> None:
    (found,) = differences([[a_fact("4", missing="not set")], []])
    assert found.values == ("4", "not set")


def test_a_difference_is_as_heavy_as_its_heaviest_side_and_hidden_only_where_every_side_hides_it() -> None:
    set_here = a_fact("2", weight=Weight.IMPORTANT, mark="")
    standard = a_fact("1", weight=Weight.MINOR, mark="default", hidden="at its default")
    (found,) = differences([[set_here], [standard]])
    assert (found.weight, found.hidden, found.pairs) == (Weight.IMPORTANT, "", (("2", ""), ("1", "default")))
    (found,) = differences([[standard], [a_fact("3", weight=Weight.MINOR, hidden="at its default")]])
    assert found.hidden == "at its default"


def test_values_beyond_those_shown_are_compared_too_and_shown_where_only_they_differ() -> None:
    many = [str(number) for number in range(8)]
    one, other = (
        [Fact("field", "F", FieldGroup.CLIENT, Weight.MINOR, tuple(values))] for values in (many, [*many[:7], "9"])
    )
    (found,) = differences([one, other])
    assert found.values == tuple(" or ".join(values) for values in (many, [*many[:7], "9"]))
    (found,) = differences([one, [a_fact("x")]])
    assert found.values[0] == "0 or 1 or 2 or 3 or 4 or 5 or 2 more"


def a_difference(
    *values: str, group: FieldGroup = FieldGroup.HARDWARE, weight: Weight = Weight.WITHHOLDS
) -> Difference:
    return Difference("field", "Field", weight, values, group=group)


def test_an_obstacle_is_the_same_whichever_side_is_the_baseline_and_another_for_every_other_value() -> None:
    (here,) = blocking_differences([a_difference("small", "large")], [("a", "a"), ("b", "b")])
    (mirrored,) = blocking_differences([a_difference("large", "small")], [("b", "b"), ("a", "a")])
    assert here.fingerprint == mirrored.fingerprint
    assert (here.side, mirrored.side) == ("b", "a")
    others = [
        blocking_differences([a_difference("small", "huge")], [("a", "a"), ("b", "b")]),
        blocking_differences([a_difference("large", "small")], [("a", "a"), ("b", "b")]),
        blocking_differences([a_difference("small", "large")], [("a", "a"), ("c", "c")]),
        blocking_differences([a_difference("small", "large", group=FieldGroup.DATASET)], [("a", "a"), ("b", "b")]),
    ]
    assert len({each.fingerprint for (each,) in others} | {here.fingerprint}) == 5


def test_a_third_side_changes_nothing_about_what_was_accepted_of_the_second() -> None:
    (alone,) = blocking_differences([a_difference("small", "large")], [("a", "a"), ("b", "b")])
    both = blocking_differences([a_difference("small", "large", "huge")], [("a", "a"), ("b", "b"), ("c", "c")])
    assert [each.side for each in both] == ["b", "c"]
    assert both[0].fingerprint == alone.fingerprint


def test_what_is_only_important_withholds_nothing() -> None:
    assert blocking_differences([a_difference("1", "2", weight=Weight.IMPORTANT)], [("a", "a"), ("b", "b")]) == ()


# ---------------------------------------------------------------- every field


@pytest.fixture
def pair(db: None) -> tuple[System, System]:
    """Alike in everything, each with what is its own to be changed."""
    systems = []
    for slug in ("a", "b"):
        platform, _ = Platform.objects.get_or_create(slug="p", name="P")
        release, _ = Release.objects.get_or_create(platform=platform, version="1", version_key=[1])
        systems.append(a_system(slug, release=release))
    return systems[0], systems[1]


def compared(*, own: Workload | None = None) -> Comparison:
    workload = a_workload()
    for slug in ("a", "b"):
        system = System.objects.get(slug=slug)
        for number in (1, 2):
            run = a_measured_run(
                {TPS: 100.0 + number},
                system=system,
                workload=own if own and slug == "b" else workload,
                load_level=a_load_level(4),
                host={"name": "client", "cpus": 2},
                data_bytes=10**9,
                command="sysbench --threads=4 --mysql-port=3306 run",
                samplers=["writer: status, every 1 s"],
            )
            configuration, _ = Configuration.objects.get_or_create(
                content_hash=canonical_hash({"x": "1"}), defaults={"variables": {"x": "1"}}
            )
            RunNode.objects.create(run=run, number=1, name="db1", role="writer", configuration=configuration)
    sides = ["a", f"b:{own.pk}" if own else "b"]
    return compare.compare(sides=sides, workload_id=workload.pk)


def test_sides_that_are_alike_differ_in_nothing(pair: tuple[System, System]) -> None:
    assert compared().differences == ()


# Field of the model -> a value other than the builder's.
HARDWARE: dict[str, Any] = {
    **{"name": "other", "provider": "aws", "instance_type": "r6g.large", "vcpu": 64, "memory_bytes": 2**40},
    **{"storage": "gp3", "storage_bytes": 2**41, "iops": 3000, "network_bits_per_second": 10**10},
    **{"region": "eu-west-1", "price_per_hour": Decimal("0.5"), "label": "large box", "slug": "other"},
}
RUN: dict[str, Any] = {
    **{"provenance": "submitted", "started_at": START + timedelta(days=3), "warmup": 7.0, "duration": 90.0},
    **{"measured_to": 45.0, "server_version": "11.4.2", "tool_version": "sysbench 1.1", "host": {"name": "other"}},
    **{"command": "sysbench --threads=4 --mysql-port=3307 --rand-type=uniform run", "data_bytes": 10**10},
    **{"samplers": ["writer: host, status, every 1 s"], "tags": ["cold"], "derivation": 7},
}
DULL: dict[type[Model], set[str]] = {
    HardwareClass: {"id", "price_source", "price_date"},  # where the price comes from, not what it is
    # What a run was and how it came here; `load_level` is given by the levels measured.
    Run: {
        *("id", "uid", "system", "workload", "load_level", "repetition", "state", "outcome", "reason", "ended_at"),
        *("sealed_at", "told", "batches_expected", "artifacts_expected", "seal_attempts", "seal_due_at"),
        *("failed_checks", "is_excluded", "unparsed_lines", "created_at", "measured_from"),
        # By these runs are grouped, not compared.
        *("session", "server_started_at"),
    },
    System: {"id", "slug", "name", "short_name", "release", "hardware_class", "endpoint", "settings_hash", "labels"}
    | {"aws_identifier", "aws_prices", "created_at", "archived_at"},
    Node: {"id", "system", "name"},
    Release: {"id", "platform", "version_key"},
    Workload: {"id", "content_hash", "description"},
}


@pytest.mark.parametrize("model", DULL)
def test_every_field_is_compared_or_left_out_on_purpose(model: type[Model]) -> None:
    changed = {
        HardwareClass: set(HARDWARE),
        Run: set(RUN),
        System: {"settings", "aws_region", "aws_kind"},
        Node: {"role", "zone", "hardware_class"},
        Release: {"version", "released_on"},
        Workload: {"tool", "name", "parameters", "primary_metric"},
    }[model]
    assert changed | DULL[model] == {field.name for field in model._meta.concrete_fields}


def found_after(change: Callable[[], object]) -> dict[str, Difference]:
    compared()
    change()
    found = compare.compare(sides=["a", "b"], workload_id=a_workload().pk)
    return {each.field: each for each in found.differences}


def tried(change: Callable[[], object]) -> dict[str, Difference]:
    """The differences after a change that is undone."""
    with transaction.atomic():
        change()
        found = compare.compare(sides=["a", "b"], workload_id=a_workload().pk)
        transaction.set_rollback(True)
    return {each.field: each for each in found.differences}


def test_other_hardware_is_found_in_any_field_and_withholds_verdicts_but_for_names_and_prices(
    pair: tuple[System, System],
) -> None:
    compared()

    def other(field: str) -> None:
        hardware = HardwareClass.objects.get(slug="small")
        hardware.pk, hardware.slug = None, "small-2"
        setattr(hardware, field, HARDWARE[field])
        hardware.save(force_insert=True)
        System.objects.filter(slug="b").update(hardware_class=hardware)

    for field in HARDWARE:
        found = tried(partial(other, field))
        assert "hardware.key" in found
        own = [each for each in found.values() if each.field not in ("hardware.key", "hardware.nodes.writer")]
        assert bool(own) == (field != "slug"), field
        withholds = any(each.weight is Weight.WITHHOLDS for each in own)
        assert withholds == (field not in ("price_per_hour", "label", "slug")), field


def test_runs_that_differ_in_any_field_are_found_and_withhold_nothing(pair: tuple[System, System]) -> None:
    compared()
    for field, value in RUN.items():
        runs = Run.objects.filter(system__slug="b")
        found = tried(partial(runs.update, **{field: value}))
        assert found, field
        assert not [each for each in found.values() if each.weight is Weight.WITHHOLDS], field


def test_topology_settings_levels_and_what_was_asked_are_compared(pair: tuple[System, System]) -> None:
    compared()
    nodes, own = Node.objects.filter(system__slug="b"), System.objects.filter(slug="b")
    runs, asked = Run.objects.filter(system__slug="b"), RunNode.objects.filter(run__system__slug="b")
    eight = a_load_level(8)
    changes: list[tuple[Callable[[], object], str, str]] = [
        (lambda: nodes.update(zone="z1"), "nodes.zones", "1 writer in z1"),
        (lambda: nodes.update(role="reader"), "nodes", "1 reader"),
        (
            lambda: own.update(aws_kind="cluster", aws_region="eu-west-1", aws_identifier="c"),
            "aws",
            "Aurora cluster in eu-west-1",
        ),
        (lambda: own.update(settings={"sync_binlog": "1"}), "settings.sync_binlog", "1"),
        (lambda: runs.update(load_level=eight), "levels", "8 threads"),
        (asked.delete, "variables", "not known"),
        (lambda: asked.update(role="reader"), "nodes.asked", "1 reader"),
    ]
    for change, field, value in changes:
        assert tried(change)[field].values[1] == value


def test_another_release_and_its_day_are_found(pair: tuple[System, System]) -> None:
    platform = Platform.objects.get(slug="p")
    later = Release.objects.create(platform=platform, version="2", version_key=[2], released_on=date(2026, 1, 2))
    found = found_after(lambda: System.objects.filter(slug="b").update(release=later))
    assert found["release"].values == ("P 1", "P 2")
    assert found["released_on"].values == ("not known", "2026-01-02")


def test_a_reader_on_other_hardware_withholds_the_verdict_but_one_more_reader_does_not(
    pair: tuple[System, System],
) -> None:
    small = HardwareClass.objects.get(slug="small")
    large = HardwareClass.objects.create(slug="large", name="large")
    a, b = pair

    def change() -> None:
        Node.objects.create(system=a, name="db2", role="reader", hardware_class=small)
        Node.objects.create(system=b, name="db2", role="reader", hardware_class=large)

    assert found_after(change)["hardware.nodes.reader"].weight is Weight.WITHHOLDS
    Node.objects.filter(role="reader").update(hardware_class=small)
    Node.objects.create(system=b, name="db3", role="reader", hardware_class=small)
    found = compare.compare(sides=["a", "b"], workload_id=a_workload().pk)
    assert {each.field for each in found.differences} == {"nodes"}
    assert found.obstacles == ()
    Node.objects.filter(system=a, role="reader").delete()
    assert compare.compare(sides=["a", "b"], workload_id=a_workload().pk).obstacles == ()


def test_a_third_side_without_readers_changes_nothing_between_two_others(pair: tuple[System, System]) -> None:
    small = HardwareClass.objects.get(slug="small")
    large = HardwareClass.objects.create(slug="large", name="large")
    for system, hardware in zip(pair, (small, large), strict=True):
        Node.objects.create(system=system, name="db2", role="reader", hardware_class=hardware)
    single = a_system("c", release=pair[0].release)
    compared()
    alone = compare.compare(sides=["a", "b"], workload_id=a_workload().pk)
    found = compare.compare(sides=["a", "b", single.slug], workload_id=a_workload().pk)
    assert [(each.side, each.group) for each in found.obstacles] == [("b", FieldGroup.HARDWARE)]
    assert found.obstacles[0].fingerprint == alone.obstacles[0].fingerprint, "what was accepted stays so"
    (readers,) = [each for each in found.differences if each.field == "hardware.nodes.reader"]
    assert (readers.values, readers.weight) == (("small", "large", "no such node"), Weight.WITHHOLDS)
    # With the single server as the baseline nobody compares their readers.
    found = compare.compare(sides=[single.slug, "a", "b"], workload_id=a_workload().pk)
    assert found.obstacles == ()
    (readers,) = [each for each in found.differences if each.field == "hardware.nodes.reader"]
    assert readers.weight is Weight.IMPORTANT


def test_a_campaign_is_noted(pair: tuple[System, System]) -> None:
    def change() -> None:
        job = a_job(systems=[pair[1]])
        Campaign.objects.filter(pk=job.campaign_id).update(name="Nightly")
        for run in Run.objects.filter(system=pair[1]):
            JobRun.objects.create(job=job, run=run, attempt=1)

    assert found_after(change)["campaigns"].values == ("none", "Nightly")


# ---------------------------------------------------------------- data set and work


def test_another_data_set_is_distinguished_from_other_work_and_each_is_accepted_by_itself(
    pair: tuple[System, System],
) -> None:
    other = a_workload("oltp_read_only", table_size=50_000)
    found = compared(own=other)
    assert [(each.side, each.group) for each in found.obstacles] == [
        (f"b:{other.pk}", FieldGroup.DATASET),
        (f"b:{other.pk}", FieldGroup.WORKLOAD),
    ]
    assert [each.fields for each in found.obstacles] == [
        (("table_size", "50000", "1000"),),
        (("test", "oltp_read_only", "oltp_write_only"),),
    ]
    assert found.withheld == ("dataset.table_size", "workload.test")
    assert ACCEPTABLE == (FieldGroup.HARDWARE, FieldGroup.DATASET, FieldGroup.WORKLOAD)


def test_another_tool_on_the_same_data_is_other_work_on_no_other_data_set(pair: tuple[System, System]) -> None:
    parameters = {"mix": "insert", "tables": 2, "table_size": 1000}
    other = Workload.objects.create(
        tool="asyncload",
        name="asyncload",
        parameters=parameters,
        content_hash=canonical_hash({"tool": "asyncload", "parameters": parameters}),
        primary_metric=a_metric(),
    )
    found = compared(own=other)
    assert {each.group for each in found.obstacles} == {FieldGroup.WORKLOAD}
    assert {each.field: each.values for each in found.differences if each.weight is Weight.WITHHOLDS} == {
        "workload": ("sysbench", "asyncload"),
        "workload.mix": ("not set", "insert"),
        "workload.test": ("oltp_write_only", "not set"),
    }


def test_what_one_side_sets_and_the_other_has_without_it_is_only_noted() -> None:
    def found(value: str) -> Difference:
        chosen = partial(a_fact, group=FieldGroup.SETTINGS, weight=Weight.IMPORTANT)
        (difference,) = differences([[chosen("not set", mark="is 1")], [chosen(value)]])
        return difference

    assert (found("1").weight, found("2").weight) == (Weight.MINOR, Weight.IMPORTANT)


def test_of_a_list_only_the_entries_that_differ_are_shown() -> None:
    old, new = "index_merge=on,index_merge_union=on,mrr=off", "index_merge=on,index_merge_union=off,mrr=off"
    assert differing_entries((old, new)) == (("index_merge_union=on",), ("index_merge_union=off",))
    assert differing_entries((old, "not set")) == ()
    difference = Difference("variables.optimizer_switch", "optimizer_switch", Weight.MINOR, (old, new))
    assert [entries for _, _, entries in difference.cells] == [("index_merge_union=on",), ("index_merge_union=off",)]
    plain = Difference("variables.sync_binlog", "sync_binlog", Weight.IMPORTANT, ("0", "1"))
    assert plain.cells == (("0", "", None), ("1", "", None))
