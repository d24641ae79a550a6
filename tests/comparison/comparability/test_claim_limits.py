"""What failed checks mean for the claim: a bound on the difference, nothing at all, or only less certainty."""

from datetime import timedelta

import pytest

from apps.catalog.models import System
from apps.comparison.comparability.claim_limits import ClaimLimit, Meaning, claim_limits
from apps.comparison.compare import compare
from apps.runs.models import Run
from tests.support.builders import START, a_load_level, a_measured_run, a_system, a_workload

pytestmark = pytest.mark.django_db
SLOW, FAST = (1000.0, 1012.0, 991.0), (1302.0, 1318.0, 1287.0)


@pytest.fixture(autouse=True)
def measured() -> None:
    for slug, values in (("slow", SLOW), ("fast", FAST), ("alike", SLOW)):
        system = a_system(slug)
        for number, value in enumerate(values):
            a_measured_run(
                {"client.throughput": value},
                system=system,
                load_level=a_load_level(4),
                started_at=START + timedelta(minutes=number),
            )


def fail(check: str, *slugs: str, runs: int = 3) -> None:
    for slug in slugs:
        chosen = Run.objects.filter(system=System.objects.get(slug=slug))[:runs]
        Run.objects.filter(pk__in=chosen).update(failed_checks=[check])


def limits(*slugs: str) -> list[ClaimLimit]:
    comparison = compare(sides=slugs, workload_id=a_workload().pk)
    return claim_limits(comparison, comparison.levels[0], comparison.metrics[0])


def test_without_failed_checks_nothing_limits_the_claim() -> None:
    assert limits("slow", "fast") == []


@pytest.mark.parametrize("check", ["generator", "network"])
@pytest.mark.parametrize(
    ("sides", "failed", "meaning"),
    [
        (("slow", "fast"), ("fast",), Meaning.LOWER_BOUND),
        (("slow", "fast"), ("slow", "fast"), Meaning.LOWER_BOUND),
        (("slow", "fast"), ("slow",), Meaning.UPPER_BOUND),
        (("fast", "slow"), ("fast",), Meaning.LOWER_BOUND),
        (("fast", "slow"), ("slow",), Meaning.UPPER_BOUND),
        (("slow", "alike"), ("slow", "alike"), Meaning.HIDDEN),
    ],
)
def test_a_limit_outside_the_servers_bounds_the_difference(
    sides: tuple[str, ...], failed: tuple[str, ...], meaning: Meaning, check: str
) -> None:
    fail(check, *failed)
    (found,) = limits(*sides)
    assert (found.meaning, found.checks, found.sides) == (meaning, (check,), (sides[1],))
    assert (found.failed, found.runs) == (3 * len(failed), 6)


def test_one_run_without_its_work_makes_the_claim_void_and_one_with_another_flaw_does_not() -> None:
    fail("happened", "fast", runs=1)
    assert [each.meaning for each in limits("slow", "fast")] == [Meaning.VOID]
    fail("generator", "fast", runs=1)
    assert limits("slow", "fast") == []
    fail("sampling", "slow", "fast")
    assert limits("slow", "fast") == []


def test_the_worst_comes_first_and_sides_limited_alike_stand_together() -> None:
    fail("generator", "slow")
    fail("neighbours", "fast", "alike")
    found = limits("slow", "fast", "alike")
    assert [(each.meaning, each.sides) for each in found] == [
        (Meaning.UPPER_BOUND, ("fast",)),
        (Meaning.HIDDEN, ("alike",)),
        (Meaning.LOCAL, ("fast",)),
    ]


def test_where_no_direction_was_found_none_is_said_to_hold_here() -> None:
    fail("neighbours", "slow", "alike")
    (found,) = limits("slow", "alike")
    assert (found.meaning, found.checks) == (Meaning.HIDDEN, ("neighbours",))
    assert (
        found.words == "May hide a difference: other work shared the hosts; the servers may differ more than was seen."
    )
