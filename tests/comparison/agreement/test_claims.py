"""Which tools bear a claim out, which contradict it, which cannot tell; and what articles state beside them."""

from collections.abc import Callable
from datetime import timedelta

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from apps.catalog import services as catalog
from apps.catalog.models import HardwareClass, Platform, System, Workload
from apps.comparison import compare
from apps.comparison.agreement import claims
from apps.comparison.agreement.claims import SideClaim, ToolAgreement, tool_agreement
from apps.comparison.tables.matrix import compare_systems
from apps.published import services as published
from apps.runs.models import Measurement, Run
from tests.support.builders import START, a_load_level, a_measured_run, a_metric, a_system, a_workload

pytestmark = pytest.mark.django_db

TPS = "client.throughput"
SLOW = (1000.0, 1012.0, 991.0, 1003.0)
FAST = (1302.0, 1318.0, 1287.0, 1309.0)
SOME = (1300.0, 400.0, 2900.0, 900.0)  # so wide that all is inconclusive

Measure = Callable[..., Workload]


@pytest.fixture
def measure(db: None) -> Measure:
    """One workload on systems a and b: a run per value, minutes apart; from `day` on, if given, on a day each."""
    systems = {slug: a_system(slug) for slug in ("a", "b")}

    def measured(
        tool: str,
        a: tuple[float, ...],
        b: tuple[float, ...],
        threads: int = 4,
        day: int | None = None,
        **parameters: str,
    ) -> Workload:
        workload = a_workload(**parameters) if tool == "sysbench" else _of(tool, parameters)
        for slug, values in (("a", a), ("b", b)):
            for number, value in enumerate(values):
                a_measured_run(
                    {TPS: value},
                    system=systems[slug],
                    workload=workload,
                    load_level=a_load_level(threads),
                    repetition=number + 1,
                    started_at=START + (timedelta(minutes=number) if day is None else timedelta(days=day + number)),
                )
        return workload

    return measured


def _of(tool: str, parameters: dict[str, str]) -> Workload:
    workload = catalog.workload_for(tool=tool, parameters=parameters)
    workload.primary_metric = a_workload().primary_metric
    workload.save()
    return workload


def found() -> ToolAgreement:
    result = tool_agreement(["a", "b"])
    assert result is not None
    return result


def claim(kind: str = "writes") -> SideClaim:
    return next(each for each in found().claims if each.kind == kind)


def sentence(client: Client, workload: Workload) -> str:
    return client.get(f"/compare/part/corroboration/?side=a&side=b&workload={workload.pk}").content.decode()


def test_two_programs_of_different_sessions_that_say_the_same_bear_a_claim_out(
    measure: Measure, client: Client
) -> None:
    measure("sysbench", SLOW, FAST, day=0)
    workload = measure("asyncload", SLOW, FAST, day=10, mix="insert")
    writes = claim()
    assert (writes.witnesses, writes.shared_sessions) == (2, False)
    assert "asyncload and sysbench agree, in different sessions" in sentence(client, workload)
    assert (writes.side, writes.says, writes.programs, writes.alone) == (
        "b",
        "better",
        ("asyncload", "sysbench"),
        False,
    )
    assert not writes.contradict
    assert not writes.cannot_tell


@pytest.mark.parametrize("day", [None, 0])
def test_programs_measured_in_the_same_sessions_are_one_witness(
    measure: Measure, client: Client, day: int | None
) -> None:
    measure("sysbench", SLOW, FAST, day=day)
    workload = measure("asyncload", SLOW, FAST, day=day, mix="insert")
    writes = claim()
    assert (writes.says, writes.programs, writes.alone) == ("better", ("asyncload", "sysbench"), False)
    assert (writes.witnesses, writes.shared_sessions) == (1, True)
    assert "agree, measured in the same sessions: one witness" in sentence(client, workload)
    document = client.get("/api/v1/claims/?side=a&side=b").json()["claims"][0]
    assert (document["witnesses"], document["shared_sessions"]) == (1, True)
    assert document["agree"][0]["sessions"] == document["agree"][1]["sessions"]


def test_programs_with_a_session_each_are_one_witness_until_sessions_are_known_to_agree(measure: Measure) -> None:
    measure("sysbench", SLOW, FAST, day=0)
    measure("asyncload", SLOW, FAST, mix="insert")
    assert claim().witnesses == 1
    measure("slap", SLOW, FAST, day=20, mix="insert")
    assert claim().witnesses == 2


def test_two_programs_of_one_session_do_not_outvote_a_third(measure: Measure) -> None:
    measure("sysbench", SLOW, FAST, day=0)
    measure("asyncload", SLOW, FAST, day=0, mix="insert")
    measure("slap", FAST, SLOW, day=10, mix="insert")
    assert (claim().says, claim().is_claimed) == ("contested", False)


def test_a_claim_that_only_one_tool_supports_says_so_however_many_workloads_it_ran(
    measure: Measure, client: Client
) -> None:
    measure("sysbench", SLOW, FAST)
    measure("sysbench", SLOW, FAST, test="oltp_insert")
    workload = measure("sysbench_oltp", SLOW, FAST, test="oltp_update_index")
    writes = claim()
    assert (len(writes.agree), writes.programs, writes.alone) == (3, ("sysbench",), True)
    page = client.get(f"/compare/part/corroboration/?side=a&side=b&workload={workload.pk}").content.decode()
    assert "only one tool supports this" in page


def test_a_program_that_says_the_opposite_is_shown_as_a_contradiction(measure: Measure) -> None:
    measure("sysbench", SLOW, FAST, day=0)
    measure("asyncload", SLOW, FAST, day=10, mix="insert")
    slap = measure("slap", FAST, SLOW, day=20, mix="insert")
    writes = claim()
    assert (writes.says, [each.workload.id for each in writes.contradict]) == ("better", [slap.pk])


def test_one_against_one_is_contested_and_no_claim(measure: Measure) -> None:
    measure("sysbench", SLOW, FAST)
    measure("asyncload", FAST, SLOW, mix="insert")
    writes = claim()
    assert (writes.says, writes.is_claimed, writes.agree, len(writes.contradict)) == ("contested", False, (), 2)


def test_too_few_runs_and_wide_ones_cannot_tell(measure: Measure) -> None:
    measure("sysbench", SLOW, FAST)
    few = measure("asyncload", SLOW[:1], FAST[:1], mix="insert")
    wide = measure("slap", SOME, SOME[::-1], mix="insert")
    writes = claim()
    assert (writes.says, writes.alone) == ("better", True)
    assert {each.workload.id for each in writes.cannot_tell} == {few.pk, wide.pk}


def test_kinds_of_load_are_claims_of_their_own(measure: Measure) -> None:
    measure("sysbench", SLOW, FAST)
    measure("sysbench", FAST, SLOW, test="oltp_read_only")
    assert {each.kind: each.says for each in found().claims} == {"reads": "worse", "writes": "better"}


def test_a_workload_that_says_both_depends_on_the_load(measure: Measure) -> None:
    measure("sysbench", SLOW, FAST)
    measure("sysbench", FAST, SLOW, threads=64)
    writes = claim()
    assert (writes.says, writes.is_claimed, len(writes.agree)) == ("depends on the load", False, 1)


@pytest.mark.parametrize(("faster", "said"), [(1, "cannot tell"), (3, "cannot tell"), (4, "better")])
def test_one_load_level_of_six_is_not_better_and_most_of_them_are(measure: Measure, faster: int, said: str) -> None:
    for place, threads in enumerate((1, 2, 4, 8, 16, 32)):
        measure("sysbench", SLOW, FAST if place < faster else SLOW[::-1], threads=threads)
    writes = claim()
    (result,) = (*writes.agree, *writes.cannot_tell)
    better = [each.level.threads for each in result.testimony if each.cell.words == "better"]
    assert (len(better), writes.says, writes.is_claimed) == (faster, said, said == "better")


def test_the_verdicts_are_those_of_the_matrix(measure: Measure) -> None:
    measure("sysbench", SLOW, FAST)
    measure("asyncload", SLOW, FAST, mix="insert")
    measure("slap", SOME, SOME, mix="insert")
    many = compare_systems(sides=["a", "b"], metrics=["primary"])
    cells = {(row.workload.id, row.level.id): row.cells[1] for row in many.rows}
    writes = claim()
    claimed = {
        (result.workload.id, each.level.id): each.cell
        for result in (*writes.agree, *writes.contradict, *writes.cannot_tell)
        for each in result.testimony
    }
    assert claimed == cells


def test_other_hardware_withholds_the_claim_too(measure: Measure) -> None:
    measure("sysbench", SLOW, FAST)
    System.objects.filter(slug="b").update(hardware_class=HardwareClass.objects.create(slug="big", name="big", vcpu=64))
    writes = claim()
    assert (writes.says, writes.is_claimed, len(writes.cannot_tell)) == ("verdict withheld", False, 1)


def test_sides_exchanged_turn_every_claim_round(measure: Measure) -> None:
    measure("sysbench", SLOW, FAST)
    measure("asyncload", FAST, SLOW, mix="point_select")
    turned = tool_agreement(["b", "a"])
    assert turned is not None
    opposite = {"better": "worse", "worse": "better"}
    assert [(c.kind, c.says) for c in turned.claims] == [(c.kind, opposite[c.says]) for c in found().claims]


def test_runs_of_one_system_make_no_claims(measure: Measure) -> None:
    measure("sysbench", SLOW, FAST)
    assert tool_agreement(["a", "a"]) is None


def test_what_a_snapshot_keeps_is_what_was_seen(measure: Measure) -> None:
    workload = measure("sysbench", SLOW, FAST)
    comparison = compare.compare(sides=["a", "b"], workload_id=workload.pk)
    kept = claims.SECTION.to_json(comparison)["corroboration"]
    assert claims.SECTION.from_json(kept) == claims.SECTION.read(comparison, None)


def test_the_queries_do_not_grow_with_workloads_and_runs(measure: Measure) -> None:
    def asked() -> int:
        with CaptureQueriesContext(connection) as captured:
            found()
        return len(captured)

    measure("sysbench", SLOW, FAST)
    before = asked()
    measure("asyncload", SLOW * 3, FAST * 3, mix="insert")
    measure("slap", SLOW, FAST, threads=16, mix="insert")
    assert asked() == before


# ---------------------------------------------------------------- what articles state


@pytest.fixture
def articles(db: None) -> tuple[System, System]:
    """Systems of PXC and Aurora that nothing was measured on but one write workload, and the articles."""
    catalog.seed()
    published.load_all(published.OWN_DATA)
    hardware = HardwareClass.objects.get(slug="m5.xlarge")
    pxc, aurora = (
        a_system(slug, platform=Platform.objects.get(slug=slug), hardware_class=hardware) for slug in ("pxc", "aurora")
    )
    for system, values in ((pxc, SLOW), (aurora, FAST)):
        for number, value in enumerate(values):
            a_measured_run({TPS: value}, system=system, repetition=number + 1)
    return pxc, aurora


def stated(side: str, baseline: str, kind: str) -> list[tuple[str, str]]:
    result = tool_agreement([baseline, side])
    assert result is not None
    return [(result.says, result.sentence) for each in result.claims if each.kind == kind for result in each.stated]


def test_articles_are_witnesses_in_their_own_words_with_the_direction_of_the_metric(
    articles: tuple[System, System],
) -> None:
    assert ("better", "PXC 15\u00a0s, Aurora 50\u00a0s (service interruption, lower is better)") in stated(
        "pxc", "aurora", "failover"
    )
    ingest = stated("aurora", "pxc", "ingest")
    assert {says for says, _ in ingest} == {"worse"}
    assert any("about 0.33\u00a0×" in sentence for _, sentence in ingest)
    assert {"worse", "better"} <= {says for says, _ in stated("aurora", "pxc", "tpcc")}


def test_figures_that_are_about_the_same_tell_no_direction(articles: tuple[System, System]) -> None:
    reached = {says for says, sentence in stated("aurora", "pxc", "mixed") if "threads reached" in sentence}
    assert reached == {"cannot tell"}  # at least 16,000 against about 15,500


def test_at_most_so_many_times_tells_no_direction(articles: tuple[System, System]) -> None:
    says = {sentence: says for says, sentence in stated("aurora", "pxc", "mixed")}
    at_least = next(sentence for sentence in says if "at least 2" in sentence)
    at_most = next(sentence for sentence in says if "at most 7" in sentence)
    assert (says[at_least], says[at_most]) == ("better", "cannot tell")


def test_articles_never_count_among_the_tools(articles: tuple[System, System]) -> None:
    result = tool_agreement(["pxc", "aurora"])
    assert result is not None
    by_kind = {each.kind: each for each in result.claims}
    assert (by_kind["writes"].says, by_kind["writes"].alone) == ("better", True)
    failover = by_kind["failover"]
    assert failover.stated
    assert (failover.says, failover.agree, failover.alone) == ("cannot tell", (), False)


def test_the_page_marks_articles_as_published_without_interval(client: Client, articles: tuple[System, System]) -> None:
    query = f"side=pxc&side=aurora&workload={a_workload().pk}"
    page = client.get(f"/compare/part/corroboration/?{query}").content.decode()
    rows = page.split('class="published-row"')[1:]
    assert rows
    assert all("no interval stated" in row and "mark--published" in row for row in rows)
    document = client.get(f"/api/v1/comparisons/?{query}&include=corroboration").json()["corroboration"]
    assert {(each["kind"], each["says"]) for each in document["claims"] if each["agree"]} == {("writes", "better")}
    assert len(rows) == sum(len(each["stated"]) for each in document["claims"])


def test_the_claims_of_several_systems_have_a_page_and_an_answer_of_their_own(measure: Measure, client: Client) -> None:
    measure("sysbench", SLOW, FAST)
    measure("asyncload", FAST, SLOW, mix="point_select")
    page = client.get("/claims/?side=a&side=b").content.decode()
    document = client.get("/api/v1/claims/?side=a&side=b").json()
    assert {(each["kind"], each["says"]) for each in document["claims"]} == {("writes", "better"), ("reads", "worse")}
    for each in document["claims"]:
        assert f'data-claim="b {each["kind"]}" data-says="{each["says"]}"' in page
    assert "/claims/?side=a&amp;side=b" in client.get("/matrix/?side=a&side=b").content.decode()
    # Without sides it takes those of the matrix.
    assert 'href="/api/v1/claims/?side=a&amp;side=b"' in client.get("/claims/").content.decode()


@pytest.mark.parametrize(
    ("query", "status"), [("", 200), ("side=a&side=nobody", 404), ("side=a&side=b&campaign=x", 400), ("side=a", 200)]
)
def test_addresses_of_claims_that_ask_nothing_say_so(measure: Measure, client: Client, query: str, status: int) -> None:
    assert client.get(f"/claims/?{query}").status_code == status


def test_what_the_comparison_beside_it_leaves_undecided_is_no_claim_by_a_smaller_correction(measure: Measure) -> None:
    workload = measure("sysbench", (1000.0, 1030.0, 970.0), (1120.0, 1160.0, 1070.0))
    for run in Run.objects.filter(workload=workload):  # latency says nothing, and is one comparison more
        Measurement.objects.create(
            run=run,
            metric=a_metric("client.latency.p95", unit="ms", direction="lower"),
            value=10.0 + run.repetition,
            artifact=run.artifacts.get(),
            byte_start=90,
            byte_end=91,
            parser="sysbench",
            parser_version="1",
        )
    beside = compare.compare(sides=["a", "b"], workload_id=workload.pk)
    (cell,) = (cell for cell in beside.cells if cell.side == "b" and cell.metric == TPS)
    assert cell.ratio is not None
    alone, together = tool_agreement(["a", "b"]), claims.agreement_of(beside)
    assert alone is not None
    assert together is not None
    assert (cell.words, "after correction" in cell.ratio.reason) == ("inconclusive", True)
    assert [claim.says for claim in alone.claims] == ["better"]
    assert [claim.says for claim in together.claims] == ["cannot tell"]
