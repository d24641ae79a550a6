"""What happens to the agent's connections leaves no trace in what it measured."""

import random
from collections import Counter

import pytest

from tests.examples import seeds
from tests.faults.checks import check_job
from tests.faults.stack import Product
from tests.support.fault_proxy import Hindrance

pytestmark = pytest.mark.needs("make")
KINDS = {"/claim", "/renew", "/batches/", "/artifacts/", "/agent/jobs/", "/end"}


@pytest.mark.parametrize("seed", seeds(2))
@pytest.mark.parametrize("runs_out", [False, True], ids=["shortly", "for longer than its lease"])
def test_an_agent_goes_on_while_the_server_is_unreachable(product: Product, seed: int, runs_out: bool) -> None:
    chance = random.Random(f"unreachable {runs_out} {seed}")
    with product.held():
        (job,) = product.plan()
        product.await_batches(job, chance.randrange(1, 20))
        with product.way.refusing():
            with product.logged_by("agent", "is not renewed: ConnectError"):
                pass
            product.let_go()
            if runs_out:
                product.end_lease(job)
                product.await_state(job, "queued")
    check_job(product, job)
    assert product.attempt(job) == 1


@pytest.mark.parametrize("seed", seeds(2))
def test_requests_and_answers_that_are_cut_count_once(product: Product, seed: int) -> None:
    """The first answer to each request is lost; of batches to some only, and some bodies are cut."""
    chance = random.Random(f"cut {seed}")
    seen: dict[str, Hindrance] = {}

    def hinder(line: str) -> Hindrance:
        if line in seen:
            return Hindrance.NONE
        seen[line] = Hindrance.ANSWER
        if "/batches/" in line:
            seen[line] = chance.choices([Hindrance.NONE, Hindrance.ANSWER, Hindrance.REQUEST], [8, 1, 1])[0]
        return seen[line]

    with product.way.hindering(hinder):
        (job,) = product.plan()
        check_job(product, job)
    assert product.attempt(job) == 1
    cut = Counter(seen.values())
    kinds = {kind for line in seen for kind in KINDS if kind in line and seen[line] is Hindrance.ANSWER}
    assert (kinds, cut[Hindrance.REQUEST] > 0) == (KINDS, True), seen
