"""How often the quality checks are right: on good and bad runs that were recorded on the lab, and on edited ones."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pytest
from scipy import stats

from apps.runs.quality.checklist import CHECKS
from apps.runs.quality.values import FAILED, QualityFacts, QualityNode
from tests.paths import DOCS
from tests.runs.quality.facts_file import plain, recorded

PAGE = DOCS / "reference" / "quality-checks.md"
FEWEST = 30  # runs of each kind
MOST_MISSED, MOST_FALSE = 0.1, 0.05
LOADS = ("quiet", "others wrote", "a busy neighbour", "a busy machine", "generator held back")


def doubled_claims(facts: QualityFacts) -> QualityFacts:
    """The client claims half as much again as it did."""
    grown = dict.fromkeys(("client.queries", "client.throughput", "client.writes", "client.transactions"), 1.5)
    return replace(facts, headlines={key: value * grown.get(key, 1) for key, value in facts.headlines.items()})


def edited_total(facts: QualityFacts) -> QualityFacts:
    """Somebody improved the rate by a tenth."""
    better = facts.headlines["client.throughput"] * 1.1
    return replace(facts, headlines={**facts.headlines, "client.throughput": better})


def lost_samples(facts: QualityFacts) -> QualityFacts:
    """A third of the server's samples of the measured phase is missing in the middle."""
    assert facts.measured is not None
    start, end = facts.measured
    third = (end - start) / 3

    def cut(node: QualityNode) -> QualityNode:
        kept = (node.clock < start + third) | (node.clock > end - third)
        return replace(node, clock=np.asarray(node.clock[kept]))

    return replace(facts, nodes=tuple(cut(node) if node.role != "agent" else node for node in facts.nodes))


@dataclass(frozen=True)
class Rated:
    """`bad`: conditions under which the check must fail; `edit`: makes bad runs of good ones. `good`: where it must
    not."""

    bad: Sequence[str]
    good: Sequence[str]
    edit: Callable[[QualityFacts], QualityFacts] | None = None


RATED: Mapping[str, Rated] = {
    "happened": Rated(["quiet"], [*LOADS, "storm", "server frozen"], doubled_claims),
    "agreement": Rated(["quiet"], [*LOADS, "storm", "a hot table", "asked too much"], edited_total),
    "asked": Rated(["asked too much"], ["quiet", "others wrote"]),
    "standstill": Rated(["server frozen"], [*LOADS, "storm"]),
    "errors": Rated(["a hot table"], [*LOADS, "storm", "server frozen"]),
    "generator": Rated(
        ["generator held back"], ["quiet", "others wrote", "a busy neighbour", "storm", "server frozen"]
    ),
    "neighbours": Rated(["others wrote", "a busy neighbour"], ["quiet", "storm", "generator held back", "a hot table"]),
    "steady": Rated(["its share fell"], ["a small server"]),
    "network": Rated(["a full link", "packets lost"], ["a link with room", *LOADS, "storm", "a hot table"]),
    "reproducible": Rated(["its share fell"], ["a small server"]),
    "sampling": Rated(["quiet"], [*LOADS, "storm", "a hot table", "both processors taken"], lost_samples),
}


def failing(key: str, runs: Iterable[QualityFacts]) -> tuple[int, int]:
    """Runs that the check fails, and all."""
    found = [CHECKS[key].rule(facts).status == FAILED for facts in runs]
    return sum(found), len(found)


def runs_of(names: Sequence[str]) -> list[QualityFacts]:
    return [facts for name in names for facts in recorded()[name]]


def rates(key: str) -> tuple[tuple[int, int], tuple[int, int]]:
    """Of bad runs and of good ones: how many fail, and how many there are."""
    rated = RATED[key]
    bad = runs_of(rated.bad)
    return failing(key, [rated.edit(facts) for facts in bad] if rated.edit else bad), failing(key, runs_of(rated.good))


def share(some: int, of: int) -> str:
    """With Wilson's 95 % interval."""
    found = stats.binomtest(some, of).proportion_ci(method="wilson")
    return f"{some} of {of} ({100 * found.low:.0f} to {100 * found.high:.0f} %)"


@pytest.mark.parametrize("key", RATED)
def test_a_check_finds_bad_runs_and_leaves_good_ones_alone(key: str) -> None:
    (found, bad), (false, good) = rates(key)
    assert min(bad, good) >= FEWEST
    assert found >= (1 - MOST_MISSED) * bad
    assert false <= MOST_FALSE * good


def test_the_page_states_the_rates() -> None:
    lines = []
    for key, rated in RATED.items():
        (found, bad), (false, good) = rates(key)
        what = (rated.edit.__doc__ or "").split("\n")[0].rstrip(".").lower() if rated.edit else ", ".join(rated.bad)
        cells = (CHECKS[key].title, what, share(found, bad), ", ".join(rated.good), share(false, good))
        lines.append(f"| {' | '.join(cells)} |")
    assert "\n".join(lines) in PAGE.read_text(encoding="utf-8"), "\n".join(lines)


@pytest.mark.parametrize(("name", "seconds"), [("a busy machine", 5), ("both processors taken", 20)])
def test_no_sample_is_missing_where_both_processors_are_taken(name: str, seconds: int) -> None:
    """The agent's threads go first."""
    found, wanted = missing(recorded()[name])
    assert (found, wanted >= 2 * len(recorded()[name]) * seconds) == (0, True)
    # Nor are there samples without the counters of the statement, the host or the agent.
    assert not sum(run.get("unobserved", 0) for run in plain()[name])


def missing(runs: Iterable[QualityFacts]) -> tuple[int, int]:
    """Seconds, until the end of the measured phases, without a sample of a node; and all of them."""
    found = wanted = 0
    for facts in runs:
        assert facts.measured is not None
        start, end = facts.measured
        for clock in (node.clock for node in facts.nodes if len(node.clock)):
            assert clock[0] <= start
            slots = set(range(int(np.ceil(end - clock[0])) + 1))
            found += len(slots - set(np.rint(clock - clock[0]).astype(int).tolist()))
            wanted += len(slots)
    return found, wanted
