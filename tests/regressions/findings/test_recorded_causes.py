"""Real changes of a real server: where the true cause stands. docs/why/likely-causes.md tells how they were made, and
which the rules were not made on."""

import gzip
import json
from functools import cache, partial
from typing import Any

import pytest

from apps.comparison.pure import Difference, FieldGroup, Weight
from apps.comparison.sections import verdicts
from apps.comparison.sections.work import RunsWork
from apps.comparison.stats.measures.work_per_transaction import Spent
from apps.regressions.findings.evidence import causes, evidence, use_difference
from apps.regressions.findings.evidence.causes import Cause
from apps.runs.tool_output.parsers.attachments.statements import StatementCounts
from apps.use_method.panels.panels import from_json
from tests.paths import RECORDINGS

THREADS = 8


@cache
def recorded() -> dict[str, Any]:
    found: dict[str, Any] = json.loads(gzip.decompress((RECORDINGS / "causes.json.gz").read_bytes()))
    return found


def ranked(name: str) -> tuple[Cause, ...]:
    """Six runs, three before and three after."""
    held = recorded()[name]
    before, after = held["sides"]
    panels = [{run: from_json(held["panels"][str(run)]) for run in side} for side in (before, after)]
    use = use_difference.compare(*panels)
    spent = {run: Spent(own, {}, {}, ()) for run, own in _by_run(held["amounts"]).items()}
    found = evidence.costs_of(
        RunsWork(held["per"], _by_run(held["done"]), spent),
        {run: tuple(StatementCounts(*each) for each in own) for run, own in _by_run(held["statements"]).items()},
        _by_run(held["lengths"]),
        (before, after),
        partial(verdicts.between, sides={"before": before, "after": after}, sessions={}),
        threads=THREADS,
        is_worse=True,
    )
    return causes.ranked(
        use=use,
        work=found.work,
        statements=found.statements,
        settings=[_difference(each) for each in held["settings"]],
        is_worse=True,
        throughput=found.throughput,
    )


def _by_run(held: dict[str, Any]) -> dict[int, Any]:
    return {int(run): each for run, each in held.items()}


def _difference(held: dict[str, Any]) -> Difference:
    return Difference(
        held["field"],
        held["label"],
        Weight(held["weight"]),
        tuple(held["values"]),
        FieldGroup(held["group"]),
        tuple(held["marks"]),
        held["hidden"],
    )


SETTING = "variables.{}"


@pytest.mark.parametrize(
    ("name", "keys"),
    [
        ("flush_log", (SETTING.format("innodb_flush_log_at_trx_commit"), "work.fsyncs")),
        ("flush_log_text", (SETTING.format("innodb_flush_log_at_trx_commit"), "commit", "work.fsyncs")),
        ("dropped_index", ("work.rows.asked",)),
        ("dropped_index_text", ("select id,k,c,pad from sbtestN where k in(...)", "work.rows.asked")),
        ("buffer_pool_text", (SETTING.format("innodb_buffer_pool_size"), "buffer_pool.misses", "work.innodb.read")),
        ("general_log", (SETTING.format("general_log"), "work.cpu.machine")),
        ("table_cache", (SETTING.format("table_open_cache"), "table_cache.overflows")),
        ("isolation", (SETTING.format("tx_isolation"), "errors.share")),
    ],
)
def test_the_true_cause_of_a_real_change_stands_first_and_what_it_did_next(name: str, keys: tuple[str, ...]) -> None:
    found = ranked(name)
    assert [each.words.partition(": ")[0] if each.kind == "statement" else each.key for each in found][: len(keys)] == [
        *keys
    ]
    assert all(each.explains for each in found[: len(keys)])


def test_a_cause_that_nothing_observed_is_not_listed() -> None:
    """A table locked for half of each second: MariaDB counts no waits for metadata locks unless told to."""
    assert not [each for each in ranked("table_lock") if each.resource == "table_locks"]
