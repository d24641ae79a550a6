"""The server is upgraded while agents of an earlier version work.

The agent is today's and states an earlier version, or none: what is tested is the header, and a server that is replaced
under a run. Code of an earlier release is in no test.
"""

import random
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

import pytest

from tests.examples import seeds
from tests.faults.checks import check_job
from tests.faults.stack import Product
from workers.protocol import versions

pytestmark = pytest.mark.needs("make")
UNSTATED = ""  # by agents of the version before
TOO_OLD = str(versions.OLDEST - 1)


@contextmanager
def agent_of(product: Product, protocol: str, *sentences: str) -> Iterator[None]:
    """In the block the product's agent is one that states this version, and that has logged these sentences."""
    file = product.var / "agent-protocol"
    with ExitStack() as logged:
        for sentence in sentences:
            logged.enter_context(product.logged_by("agent", sentence))
        file.write_text(protocol)
        product.await_another("agent", product.stop("agent"))
    try:
        yield
    finally:
        file.unlink()
        product.await_another("agent", product.stop("agent"))


@pytest.mark.parametrize("seed", seeds(2))
def test_a_run_goes_on_while_the_server_is_replaced_under_an_agent_of_the_version_before(
    product: Product, seed: int
) -> None:
    chance = random.Random(f"upgrade {seed}")
    with agent_of(product, UNSTATED):
        with product.held():
            (job,) = product.plan()
            product.await_batches(job, chance.randrange(1, 20))
            stopped = {name: product.stop(name) for name in chance.sample(["web", "worker"], 2)}
            for name, pid in stopped.items():
                product.await_another(name, pid)
        check_job(product, job)
        assert product.attempt(job) == 1


def test_an_agent_that_is_too_old_says_so_and_a_newer_one_takes_the_job(product: Product) -> None:
    why = f"426 Agent too old: This agent speaks version {TOO_OLD} of the protocol, and this server gives jobs to "
    hello, claim = (f"{what}: {why}" for what in ("the server did not accept the hello", "no job could be claimed"))
    with agent_of(product, TOO_OLD, hello, claim):
        with product.logged_by("beat", "Sending due task match_jobs"):
            (job,) = product.plan()
        assert (product.state(job), product.attempt(job)) == ("queued", 0)
    check_job(product, job)
