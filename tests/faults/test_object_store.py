"""An object store that fails half-way loses no artifact."""

import random

import pytest

from tests.examples import seeds
from tests.faults.checks import check_job
from tests.faults.stack import Product
from tests.support.fault_proxy import Hindrance

pytestmark = pytest.mark.needs("make")
# Of some requests for a while, after all of them failed until an upload was refused.
HINDRANCES = [Hindrance.ERROR, Hindrance.REQUEST, Hindrance.ANSWER]
SOME = 10


@pytest.mark.parametrize("seed", seeds(2))
def test_an_object_store_that_fails_for_a_while_loses_no_artifact(product: Product, seed: int) -> None:
    chance = random.Random(f"store {seed}")
    asked: list[str] = []

    def some(line: str) -> Hindrance:
        asked.append(line)
        return chance.choice([Hindrance.NONE, *HINDRANCES]) if len(asked) <= SOME else Hindrance.NONE

    with product.held():
        (job,) = product.plan()
        product.await_batches(job, chance.randrange(1, 20))
        with product.store_way.hindering(lambda _: chance.choice(HINDRANCES)), product.logged_by("agent", "waits: 503"):
            product.let_go()
    with product.store_way.hindering(some):
        check_job(product, job)
    assert product.attempt(job) == 1
    assert len(asked) > SOME
    assert all(product.store_way.count(each) for each in HINDRANCES), product.store_way.hindered
