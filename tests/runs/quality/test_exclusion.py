"""A run that a person leaves out counts nowhere, says why, and can be brought back."""

from datetime import timedelta
from pathlib import Path

import pytest
from django.conf import settings
from django.test.utils import override_settings
from django.utils import timezone
from rest_framework.test import APIClient

from apps.accounts.models import User
from apps.comparison import compare as comparison
from apps.core.problems import Invalid
from apps.core.stores import store_at
from apps.runs import archive, queries
from apps.runs.models import ArchivedRun, Exclusion, Run
from apps.runs.quality import exclusion
from tests.support.builders import START, a_load_level, a_measured_run, a_system, a_user, a_workload
from tests.web.runs.recorded_runs import a_sealed_run

pytestmark = pytest.mark.django_db
REASON = "a backup ran on the host"


@pytest.fixture
def ann() -> User:
    return a_user(username="ann")


@pytest.fixture
def sides() -> dict[str, list[Run]]:
    workload, level = a_workload(), a_load_level()
    return {
        slug: [
            a_measured_run(
                {"client.throughput": value},
                system=system,
                workload=workload,
                load_level=level,
                started_at=START + timedelta(minutes=minute),
            )
            for minute, value in enumerate(values)
        ]
        for slug, values in (("a", [100.0, 101, 99, 100]), ("b", [120.0, 121, 119, 300]))
        for system in [a_system(slug)]
    }


def values_of(side: str, of: dict[str, list[Run]], **more: object) -> list[float]:
    found = comparison.compare(sides=["a", "b"], workload_id=of["a"][0].workload_id, **more)  # type: ignore[arg-type]
    (cell,) = (cell for cell in found.cells if cell.side == side and cell.metric == "client.throughput")
    return sorted(each.value for each in cell.replicates)


def test_it_counts_in_no_comparison_until_it_is_brought_back(ann: User, sides: dict[str, list[Run]]) -> None:
    odd = sides["b"][3]
    assert values_of("b", sides)[-1] == 300
    assert exclusion.exclude(run=odd, reason=f" {REASON} ", by=ann)
    assert values_of("b", sides) == [119, 120, 121]
    assert values_of("b", sides, runs=[run.pk for run in (*sides["a"], *sides["b"])]) == [119, 120, 121]
    assert exclusion.count_again(run=odd, by=ann)
    assert values_of("b", sides)[-1] == 300


@pytest.mark.parametrize("chosen", [False, True])
def test_the_comparison_says_that_it_was_left_out_and_why(ann: User, sides: dict[str, list[Run]], chosen: bool) -> None:
    odd = sides["b"][3]
    exclusion.exclude(run=odd, reason=REASON, by=ann)
    runs = [run.pk for run in (*sides["a"], *sides["b"])] if chosen else None
    found = comparison.compare(sides=["a", "b"], workload_id=odd.workload_id, runs=runs)
    (left_out,) = found.left_out
    assert (left_out.id, left_out.left_out) == (odd.pk, f"excluded: {REASON}")
    assert [(tally.left_out, tally.amount.runs) for tally in found.tallies if tally.left_out] == [("excluded", 1)]


def test_who_when_and_why_stay_as_history(ann: User) -> None:
    run, bob = a_measured_run({"client.throughput": 1.0}), a_user(username="bob")
    exclusion.exclude(run=run, reason=REASON, by=ann)
    exclusion.count_again(run=run, by=bob)
    exclusion.exclude(run=run, reason="it is odd after all", by=bob)
    latest, first = queries.load_run(run.pk).exclusions
    assert (first.reason, first.excluded_by, first.ended_by, first.ended_at is None) == (REASON, "ann", "bob", False)
    assert (latest.reason, latest.excluded_by, latest.ended_by, latest.ended_at) == (
        "it is odd after all",
        "bob",
        "",
        None,
    )


def test_said_twice_it_has_one_effect(ann: User) -> None:
    run = a_measured_run({"client.throughput": 1.0})
    assert [exclusion.exclude(run=run, reason=REASON, by=ann) for _ in range(2)] == [True, False]
    assert [exclusion.count_again(run=run, by=ann) for _ in range(2)] == [True, False]
    assert Exclusion.objects.count() == 1


@pytest.mark.parametrize("reason", ["", "  \n", "x" * 2001, "a\0b"])
def test_it_takes_a_reason_that_others_can_read(ann: User, reason: str) -> None:
    run = a_measured_run({"client.throughput": 1.0})
    with pytest.raises(Invalid, match="reason: must state the reason in 1 to 2,000 characters"):
        exclusion.exclude(run=run, reason=reason, by=ann)
    assert not Exclusion.objects.exists()


def test_a_run_that_is_still_measured_cannot_be_left_out(ann: User) -> None:
    run = a_measured_run({"client.throughput": 1.0}, state="ended")
    with pytest.raises(Invalid, match="is not complete"):
        exclusion.exclude(run=run, reason=REASON, by=ann)


def test_lists_find_what_was_left_out_and_what_failed_a_check(ann: User) -> None:
    fine, doubted, excluded = (a_measured_run({"client.throughput": 1.0}) for _ in range(3))
    Run.objects.filter(pk=doubted.pk).update(failed_checks=["steady"])
    exclusion.exclude(run=excluded, reason=REASON, by=ann)

    def found(*quality: str) -> set[int]:
        return {row.id for row in queries.list_runs(queries.RunFilter(quality=quality))}

    assert found("failed-check") == {doubted.pk}
    assert found("excluded") == {excluded.pk}
    assert found("failed-check", "excluded") == {doubted.pk, excluded.pk}
    assert found() == {fine.pk, doubted.pk, excluded.pk}


# ---------------------------------------------------------------- kept with the run


def test_it_is_archived_and_restored_and_checks_are_made_anew(ann: User, tmp_path: Path) -> None:
    store = store_at(str(tmp_path / "archive"))
    with override_settings(STORAGES=settings.STORAGES | {"archive": store}):
        run = a_sealed_run()
        archive.archive(run_id=run.pk, now=timezone.now())
        exclusion.exclude(run=run, reason=REASON, by=ann)
        assert archive.due(now=timezone.now(), limit=5) == [run.pk]
        archive.archive(run_id=run.pk, now=timezone.now())
        assert archive.due(now=timezone.now(), limit=5) == []
        before = exclusion.history(run.pk), [check.evidence for check in queries.load_run(run.pk).checks]
        source, path = archive.archive_storage(), ArchivedRun.objects.get().manifest
        forget(run)
        restored = archive.restore(source, path=path)
        assert restored.run is not None, restored.problem
        after = (
            exclusion.history(restored.run.pk),
            [check.evidence for check in queries.load_run(restored.run.pk).checks],
        )
        assert after == before


def forget(run: Run) -> None:
    """As on another installation: nobody there knows the run or ann."""
    ArchivedRun.objects.all().delete()
    for kind in (run.measurements, run.distributions):
        kind.all().delete()
    run.delete()
    User.objects.all().delete()


# ---------------------------------------------------------------- through the API


def test_the_api_leaves_a_run_out_and_lets_it_count_again(ann: User) -> None:
    run = a_measured_run({"client.throughput": 1.0})
    client, address = APIClient(), f"/api/v1/runs/{run.pk}/exclusion/"
    client.force_authenticate(ann)
    first = client.post(address, {"reason": REASON}, format="json")
    assert (first.status_code, first.json()["excluded_by"]) == (201, "ann")
    assert client.post(address, {"reason": "other"}, format="json").status_code == 200
    document = APIClient().get(f"/api/v1/runs/{run.pk}/").json()
    assert (document["is_excluded"], [one["reason"] for one in document["exclusions"]]) == (True, [REASON])
    assert APIClient().get("/api/v1/runs/?quality=excluded").json()["results"][0]["is_excluded"]
    assert client.delete(address).json()[0]["ended_by"] == "ann"
    assert APIClient().get(address).json()[0]["ended_at"] is not None
    assert APIClient().get("/api/v1/runs/?quality=excluded").json()["results"] == []


def test_the_api_refuses_strangers_readers_and_empty_reasons(ann: User) -> None:
    run = a_measured_run({"client.throughput": 1.0})
    client, address = APIClient(), f"/api/v1/runs/{run.pk}/exclusion/"
    assert client.post(address, {"reason": REASON}, format="json").status_code == 401
    client.force_authenticate(a_user(role="reader"))
    assert client.post(address, {"reason": REASON}, format="json").status_code == 403
    client.force_authenticate(ann)
    assert client.post(address, {"reason": " "}, format="json").status_code == 422
    assert client.post(address, {}, format="json").status_code == 422
    assert client.post("/api/v1/runs/999999/exclusion/", {"reason": REASON}, format="json").status_code == 404
    assert not Exclusion.objects.exists()
