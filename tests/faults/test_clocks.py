"""Clocks that are set by hours in the middle of a run, forward and back, change nothing of it."""

import random
import time

import pytest

from tests.examples import seeds
from tests.faults import clocks
from tests.faults.checks import check_job
from tests.faults.stack import Product
from tests.support.waiting import eventually

pytestmark = pytest.mark.needs("make", clocks.COMPILER)
MOST = 12  # h


@pytest.mark.parametrize("seed", seeds(2))
@pytest.mark.parametrize("name", ["agent", "server"])
def test_a_clock_that_is_set_changes_no_run(product: Product, name: str, seed: int) -> None:
    chance = random.Random(f"{name} {seed}")
    hours = chance.randrange(1, MOST)
    began = time.monotonic()
    with product.held():
        job, *others = product.plan(repetitions=2 if name == "server" else 1)
        product.await_batches(job, chance.randrange(1, 20))
        try:
            for ahead in (hours, -hours) if seed % 2 else (-hours, hours):
                before = product.lease(job)
                with product.logged_by("beat", "Sending due task expire_leases"):
                    clocks.set_ahead(product.var, name, ahead * clocks.HOUR)
                eventually(
                    lambda: product.state(job) == "running" and product.lease(job) != before,  # noqa: B023  at once
                    what="the lease is renewed",
                    seen=product.progress,
                )
        finally:
            clocks.set_ahead(product.var, name, 0)
    for each in (job, *others):
        check_job(product, each)
        assert product.attempt(each) == 1
        ((run, _, _),) = product.runs(each)
        assert 0 < product.duration(run) < time.monotonic() - began
