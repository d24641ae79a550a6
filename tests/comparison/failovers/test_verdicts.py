"""Verdicts on systems under the same fault."""

import numpy as np
import pytest

from apps.catalog.models import System
from apps.comparison.failovers.results import load_failovers
from apps.comparison.failovers.values import FailoverFilter, FaultVerdict
from apps.comparison.stats import welch
from apps.comparison.stats.replicates import Sample
from apps.runs.models import Run
from tests.support.failed_over import a_cluster, a_failover, a_replicated_pair, made_up

pytestmark = pytest.mark.django_db

SHORT, LONG = (2.0, 2.05, 2.1, 1.95), (6.0, 6.3, 6.1, 6.2)
UNDISTURBED = 0.05  # no longer than between two inserts


@pytest.fixture
def galera(db: None) -> System:
    return a_cluster()


@pytest.fixture
def mha(db: None) -> System:
    return a_replicated_pair()


def trials(system: System, outages: tuple[float | None, ...], *, fault: str = "kill_writer", origin: str = "") -> None:
    for outage in outages:
        a_failover(system, made_up(outage), fault=fault, **({"provenance": origin} if origin else {}))


def the_verdict() -> FaultVerdict:
    (found,) = load_failovers(FailoverFilter()).verdicts
    return found


def test_the_ratio_is_that_of_the_outages_to_the_shortest(galera: System, mha: System) -> None:
    trials(mha, LONG)
    trials(galera, SHORT)
    found = the_verdict()
    assert (found.baseline, found.system, found.words) == ("cluster", "replicas", "worse")
    assert found.ratio
    assert found.ratio.value == pytest.approx(np.exp(np.log(LONG).mean() - np.log(SHORT).mean()))
    alone = welch.compare(Sample(SHORT), Sample(LONG))
    assert (found.ratio.low, found.ratio.high) == pytest.approx((alone.low, alone.high))


def test_overlapping_outages_are_inconclusive(galera: System, mha: System) -> None:
    trials(galera, (2.0, 3.0, 4.0))
    trials(mha, (2.5, 3.5, 4.0))
    assert the_verdict().words == "inconclusive"


def test_an_outage_that_did_not_end_has_no_ratio(galera: System, mha: System) -> None:
    trials(galera, (1.0, 1.0, None))
    trials(mha, LONG)
    found = the_verdict()
    assert (found.baseline, found.system) == ("replicas", "cluster")
    assert (found.ratio, found.words) == (None, "not every trial recovered")


def test_systems_that_go_on_writing_are_not_ranked_by_the_time_between_two_inserts(galera: System, mha: System) -> None:
    trials(galera, (UNDISTURBED,) * 4)
    trials(mha, (2 * UNDISTURBED,) * 4)
    found = the_verdict()
    assert (found.ratio, found.words) == (None, "not interrupted")


def test_other_hardware_faults_and_examples_are_not_compared(galera: System, mha: System) -> None:
    trials(galera, SHORT)
    trials(mha, LONG, fault="kill_reader")
    trials(mha, LONG, origin=Run.Provenance.EXAMPLE)
    assert load_failovers(FailoverFilter()).verdicts == ()


def test_verdicts_of_all_faults_are_corrected_together(galera: System, mha: System) -> None:
    trials(galera, (2.0, 2.2, 2.4))
    trials(mha, (2.6, 2.85, 3.1))
    assert the_verdict().words == "worse"
    for fault in ("kill_reader", "freeze_writer", "stop_writer", "cut_writer"):
        trials(galera, (2.0, 3.0, 4.0), fault=fault)
        trials(mha, (2.1, 3.1, 4.1), fault=fault)
    found = load_failovers(FailoverFilter()).verdicts
    assert [each.words for each in found] == ["inconclusive"] * 5
    assert found[0].ratio
    assert "5 comparisons" in found[0].ratio.reason
