"""What changed together with a result is ranked: what reached its limit, what costs more, what was set."""

import math
from typing import Any

import pytest

from apps.comparison.pure import Difference, FieldGroup, Weight
from apps.regressions.findings.evidence import causes, use_difference
from apps.regressions.findings.evidence.causes import Cause
from apps.regressions.findings.evidence.quantities import QuantityDifference
from apps.regressions.findings.evidence.statement_difference import StatementDifference
from apps.regressions.findings.evidence.use_difference import UseDifference
from apps.regressions.findings.evidence.work_difference import WorkDifference
from apps.use_method.values import Panel, Reading, UseLevel

OK, WATCH, SATURATED, ERROR = UseLevel.OK, UseLevel.WATCH, UseLevel.SATURATED, UseLevel.ERROR
Side = dict[str, tuple[float, UseLevel]]


def use(before: Side, after: Side, *, is_worse: bool = True, words: str = "") -> UseDifference:
    """Three runs of each side, nearly alike."""
    sides = [
        {
            first + run: Panel(
                (0.0, 60.0),
                (("db1", "writer"),),
                tuple(
                    Reading(key, "db1", level, value * (1 + run / 1000), words) for key, (value, level) in side.items()
                ),
            )
            for run in range(3)
        }
        for first, side in ((10, before), (20, after))
    ]
    return use_difference.compare(*sides, is_worse=is_worse)


def quantity(before: float, after: float, *, words: str = "") -> QuantityDifference:
    ratio = after / before if before and after else None
    size = math.log((after + 0.01) / (before + 0.01))
    said = words or ("higher" if after > before else "lower")
    return QuantityDifference(before, after, ratio, ratio and ratio * 0.95, ratio and ratio * 1.05, said, size)


def work(key: str, before: float, after: float) -> WorkDifference:
    return WorkDifference(key, key, "", "transaction", quantity(before, after))


def statement(text: str, share: float | None, **quantities: QuantityDifference) -> StatementDifference:
    known = {"time": None, "rows": None, "executions": None, **quantities}
    return StatementDifference(key=text, text=text, share=share, **known)


def setting(name: str, before: str, after: str, **fields: Any) -> Difference:
    given = {"weight": Weight.IMPORTANT, "group": FieldGroup.VARIABLES, **fields}
    return Difference(f"variables.{name}", name, values=(before, after), **given)


def ranked(**known: Any) -> tuple[Cause, ...]:
    given = {"use": use({}, {}), "work": (), "statements": (), "settings": (), "is_worse": True, "throughput": 0.5}
    return causes.ranked(**{**given, **known})


def keys(**known: Any) -> list[str]:
    return [each.key for each in ranked(**known)]


def test_a_saturated_resource_stands_before_work_and_a_setting_before_what_it_governs() -> None:
    seen = use({"disk.pressure": (5.0, OK)}, {"disk.pressure": (60.0, SATURATED)})
    spent = (work("work.fsyncs", 0.01, 3.0), work("work.rows.asked", 100.0, 900.0))
    set_ = setting("innodb_flush_log_at_trx_commit", "0", "1")
    found = ranked(use=seen, work=spent, settings=(set_,))
    assert [each.key for each in found] == [set_.field, "disk.pressure", "work.fsyncs", "work.rows.asked"]
    assert found[0].words == "innodb_flush_log_at_trx_commit 0 → 1"
    assert found[0].why == "governs disk and fsyncs of InnoDB, which changed with it"
    assert found[1].why == "saturation reached another level: ok → saturated"


def test_work_is_no_cause_of_itself_but_a_setting_that_governs_it_is() -> None:
    spent = (work("work.fsyncs", 0.01, 3.0), work("work.rows.asked", 100.0, 900.0))
    set_ = setting("innodb_flush_log_at_trx_commit", "0", "1")
    found = ranked(work=spent, settings=(setting("sync_frm", "0", "1"), set_), metric="work.fsyncs")
    assert [each.key for each in found] == [set_.field, "work.rows.asked", "variables.sync_frm"]
    assert found[0].why == "governs fsyncs of InnoDB, which changed with it"
    assert keys(work=spent[:1], metric="work.fsyncs") == []


def test_a_setting_that_would_have_had_the_opposite_effect_explains_nothing() -> None:
    seen = use({"buffer_pool.misses": (0.0, OK)}, {"buffer_pool.misses": (4.0, SATURATED)})
    smaller, larger = (setting("innodb_buffer_pool_size", *sizes) for sizes in (("1G", "8M"), ("8M", "1G")))
    assert keys(use=seen, settings=(smaller,)) == [smaller.field, "buffer_pool.misses"]
    found = ranked(use=seen, settings=(larger,))
    assert [each.key for each in found] == ["buffer_pool.misses", larger.field]
    assert found[1].why == "differs; nothing that it is known to govern changed"


def test_a_setting_governs_an_error_whose_remedy_names_it() -> None:
    seen = use(
        {"errors.conflict": (0.0, OK)}, {"errors.conflict": (60.0, ERROR)}, words="set innodb_snapshot_isolation off"
    )
    set_ = setting("innodb_snapshot_isolation", "OFF", "ON")
    assert keys(use=seen, settings=(setting("sync_binlog", "0", "1"), set_))[:2] == [set_.field, "errors.conflict"]


def test_work_that_rose_only_because_throughput_fell_ranks_last() -> None:
    found = ranked(work=(work("work.redo", 1000.0, 2050.0), work("work.fsyncs", 1.0, 1.5)), throughput=0.5)
    assert [(each.key, each.explains) for each in found] == [("work.redo", False), ("work.fsyncs", False)]
    found = ranked(work=(work("work.redo", 1000.0, 2050.0), work("work.fsyncs", 1.0, 9.0)), throughput=0.5)
    assert [(each.key, each.explains) for each in found] == [("work.fsyncs", True), ("work.redo", False)]
    assert found[1].why.endswith("it follows throughput")


def test_work_at_a_saturated_resource_explains_though_its_rate_is_at_the_limit() -> None:
    seen = use({"cpu.run_queue": (4.0, SATURATED)}, {"cpu.run_queue": (4.0, SATURATED)})
    (found,) = ranked(use=seen, work=(work("work.cpu.server", 1.0, 2.0),), throughput=0.5)
    assert found.explains
    assert found.why.endswith("at a saturated resource")


def test_utilization_with_room_left_or_that_fell_explains_nothing() -> None:
    assert keys(use=use({"cpu.busy": (20.0, OK)}, {"cpu.busy": (40.0, OK)})) == []
    assert keys(use=use({"cpu.busy": (97.0, SATURATED)}, {"cpu.busy": (40.0, OK)})) == []
    assert keys(use=use({"cpu.busy": (40.0, OK)}, {"cpu.busy": (97.0, SATURATED)})) == ["cpu.busy"]


def test_a_plan_that_examines_more_rows_stands_before_the_resource_that_it_saturates() -> None:
    seen = use({"cpu.run_queue": (0.5, OK)}, {"cpu.run_queue": (4.0, SATURATED)})
    scan = statement("select c from sbtestN where k=?", 0.95, rows=quantity(1.0, 10_000.0), time=quantity(0.1, 9.0))
    slow = statement("update sbtestN set k=?", 0.05, time=quantity(0.1, 0.2))
    found = ranked(use=seen, statements=(scan, slow), work=(work("work.rows.asked", 10.0, 9000.0),))
    assert [each.key for each in found] == [scan.key, "cpu.run_queue", "work.rows.asked"]
    assert found[0].words.endswith(": 1 → 10,000\u00a0rows examined per execution, 0.100 → 9.00\u00a0ms per execution")
    assert found[0].why == "95\u00a0% of the additional time per transaction; it does more work"


def test_a_statement_that_only_takes_longer_does_not_stand_before_a_saturated_resource() -> None:
    seen = use({"disk.pressure": (5.0, OK)}, {"disk.pressure": (60.0, SATURATED)})
    slow = statement("commit", 0.9, time=quantity(0.1, 9.0))
    assert keys(use=seen, statements=(slow,)) == ["disk.pressure", "commit"]


def test_statements_are_ranked_by_their_share_of_the_additional_time() -> None:
    texts = {"a": 0.3, "b": 0.4, "c": 0.09, "d": None}
    seen = [statement(text, share, time=quantity(1.0, 2.0)) for text, share in texts.items()]
    assert keys(statements=seen) == ["b", "a"]


def test_one_candidate_stands_for_all_of_a_resource() -> None:
    before = {"disk.pressure": (5.0, OK), "disk.queue": (1.0, OK)}
    after = {"disk.pressure": (60.0, SATURATED), "disk.queue": (9.0, SATURATED)}
    (found,) = ranked(use=use(before, after))
    assert found.why == "saturation reached another level: ok → saturated; 1 more difference of this resource"


def test_what_moved_the_other_way_is_last_and_does_not_explain() -> None:
    before = {"disk.pressure": (9.0, SATURATED), "redo_log.waits": (0.0, OK)}
    after = {"disk.pressure": (0.0, OK), "redo_log.waits": (9000.0, SATURATED)}
    found = ranked(use=use(before, after))
    assert [(each.key, each.explains) for each in found] == [("redo_log.waits", True), ("disk.pressure", False)]
    better = ranked(use=use(after, before, is_worse=False), is_worse=False)
    assert next((each.key, each.explains) for each in better) == ("redo_log.waits", True)


@pytest.mark.parametrize("group", [FieldGroup.HARDWARE, FieldGroup.DATASET, FieldGroup.WORKLOAD])
def test_other_conditions_stand_first(group: FieldGroup) -> None:
    seen = use({"disk.pressure": (5.0, OK)}, {"disk.pressure": (60.0, SATURATED)})
    other = Difference("x", "vCPU", Weight.WITHHOLDS, ("2", "4"), group)
    assert keys(use=seen, settings=(other,)) == ["x", "disk.pressure"]


def test_a_version_and_a_setting_that_nothing_points_to_are_listed_behind_and_minor_ones_are_not() -> None:
    version = Difference("server_version", "Server version", Weight.IMPORTANT, ("1", "2"), FieldGroup.VERSION)
    minor = setting("wait_timeout", "1", "2", weight=Weight.MINOR)
    weighty = setting("sync_binlog", "0", "1")
    found = ranked(work=(work("work.rows.asked", 1.0, 9.0),), settings=(version, minor, weighty))
    assert [each.key for each in found] == ["work.rows.asked", "server_version", weighty.field]
    assert [each.is_indicated for each in found] == [True, False, False]


def test_a_resource_that_is_only_to_be_watched_does_not_stand_before_work() -> None:
    seen = use({"cpu.run_queue": (0.4, OK)}, {"cpu.run_queue": (1.6, WATCH)})
    found = ranked(use=seen, work=(work("work.fsyncs", 0.01, 0.5),), throughput=0.4)
    assert [each.key for each in found] == ["work.fsyncs", "cpu.run_queue"]
    assert found[1].why == "saturation grew, ok → watch"


def test_statements_in_execution_follow_their_duration_whatever_they_wait_for() -> None:
    before = {"cpu.threads_running": (0.4, OK), "row_locks.timeouts": (0.0, OK)}
    after = {"cpu.threads_running": (4.0, SATURATED), "row_locks.timeouts": (600.0, ERROR)}
    found = ranked(use=use(before, after))
    assert [(each.key, each.explains) for each in found] == [
        ("row_locks.timeouts", True),
        ("cpu.threads_running", False),
    ]


def test_settings_do_not_crowd_out_what_they_govern() -> None:
    known = ("slow_query_log", "general_log", "performance_schema", "userstat")
    found = ranked(work=(work("work.cpu.server", 1.0, 9.0),), settings=[setting(name, "OFF", "ON") for name in known])
    assert [each.key for each in found].index("work.cpu.server") == 2


def test_what_a_server_could_do_governs_nothing() -> None:
    found = ranked(work=(work("work.cpu.server", 1.0, 9.0),), settings=[setting("have_ssl", "DISABLED", "YES")])
    assert found[0].key == "work.cpu.server"


def test_of_a_list_only_the_entries_that_differ_are_shown() -> None:
    (found, _) = ranked(
        work=(work("work.rows.asked", 1.0, 9.0),),
        settings=(setting("optimizer_switch", "a=on,b=on,c=off", "a=on,b=off,c=off"),),
    )
    assert found.words == "optimizer_switch b=on → b=off"


def test_a_variable_that_one_version_does_not_have_governs_nothing() -> None:
    renamed = setting("transaction_isolation", "no such variable", "SERIALIZABLE")
    assert keys(work=(work("work.locks.waited", 1.0, 9.0),), settings=(renamed,))[0] == "work.locks.waited"


CONFLICTS = "300 × error 1020: changed, remedy: innodb_snapshot_isolation raises it"


def failing(share: float, *, words: str = CONFLICTS) -> UseDifference:
    """Of the operations after the change this share fails, in per cent; at a CPU that is saturated anyway."""
    before = {"errors.conflict": (0.0, OK), "errors.share": (0.0, OK), "cpu.run_queue": (4.0, SATURATED)}
    after = {"errors.conflict": (1500.0, ERROR), "errors.share": (share, ERROR), "cpu.run_queue": (4.0, SATURATED)}
    return use(before, after, words=words)


def test_errors_of_few_operations_do_not_lead_where_throughput_fell_by_much_more() -> None:
    """3 % that fail end early: at most 17 % of a fall by 17 %."""
    set_ = setting("innodb_snapshot_isolation", "OFF", "ON")
    spent = (work("work.cpu.server", 1.0, 1.2),)
    found = ranked(use=failing(3.1), work=spent, settings=(set_,), throughput=0.83)
    assert [each.key for each in found] == ["work.cpu.server", set_.field, "errors.conflict"]
    assert found[2].why.startswith("errors reached another level: ok → error; at most 17\u00a0% of the change")


def test_errors_that_cannot_explain_a_fall_are_named_apart_with_their_setting() -> None:
    set_ = setting("innodb_snapshot_isolation", "OFF", "ON")
    version = Difference("server_version", "Server version", Weight.IMPORTANT, ("10.11", "11.8"), FieldGroup.VERSION)
    found = ranked(use=failing(1.0), settings=(set_, version), throughput=0.83)
    assert [(each.key, each.explains) for each in found] == [
        (version.field, True),
        (set_.field, False),
        ("errors.conflict", False),
    ]


@pytest.mark.parametrize(
    ("share", "words"),
    [
        (90.0, CONFLICTS),  # nearly all that is lost
        (3.1, "300 × error 1205: waited too long for a lock"),  # few, but each waited
        (3.1, "300 × “it failed”"),  # not known which
    ],
)
def test_errors_that_may_explain_a_fall_stand_first(share: float, words: str) -> None:
    found = ranked(use=failing(share, words=words), work=(work("work.cpu.server", 1.0, 1.2),), throughput=0.12)
    assert (found[0].resource, found[0].explains) == ("errors", True)


def test_where_errors_are_what_changed_work_and_slower_statements_do_not_explain_them() -> None:
    set_ = setting("innodb_snapshot_isolation", "OFF", "ON")
    slow = statement("update sbtestN set k=?", 0.9, time=quantity(0.1, 0.9))
    found = ranked(
        use=failing(3.1),
        work=(work("work.cpu.server", 1.0, 1.2),),
        statements=(slow,),
        settings=(set_,),
        throughput=0.83,
        metric="client.errors",
    )
    assert [each.key for each in found if each.explains] == [set_.field, "errors.conflict"]
    assert {each.key for each in found if not each.explains} == {slow.key, "work.cpu.server"}
