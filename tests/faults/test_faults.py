"""What fails comes back by itself: no sample is lost or doubled, and every job ends."""

import os
import random
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable

import httpx
import pytest

from apps.core.server import restarts
from config.launch.places import ROOT
from tests.examples import seeds
from tests.faults.checks import check_job, check_samples
from tests.faults.stack import FINAL, Product
from tests.support.waiting import LIMIT, eventually

pytestmark = pytest.mark.needs("make")
Fault = Callable[[Product, random.Random], None]


def kill(name: str) -> Fault:
    def fault(product: Product, _: random.Random) -> None:
        product.await_another(name, product.kill(name))

    return fault


def lose_the_queue(product: Product, _: random.Random) -> None:
    pid = product.kill("valkey")
    shutil.rmtree(product.var / "valkey" / "appendonlydir")
    product.await_another("valkey", pid)


def hang(product: Product, _: random.Random) -> None:
    """Until the supervisor ends it: connections are accepted by the kernel, and nobody answers."""
    with product.frozen("web") as pid:
        product.await_another("web", pid)
    # Soon after a start its processes are missed before the answer is.
    assert "had no answer" in (why := restarts.read(product.var)[0].why) or "no sign of life" in why


def fill_the_servers_disk(product: Product, chance: random.Random) -> None:
    free = product.var / "free"
    with product.logged_by("agent", "507 Insufficient Storage"):
        free.write_text(str(chance.randrange(2**20)))
        product.let_go()
        refused = product.http.post("/api/v1/campaigns/", json={})
        assert (refused.status_code, refused.headers["Retry-After"]) == (507, "30")
        assert "free and needs" in refused.json()["detail"]
    page = httpx.get(f"{product.http.base_url}/agents/", timeout=LIMIT)
    assert (page.status_code, 'data-state="read-only"' in page.text) == (200, True)
    free.unlink()


def fill_the_agents_disk(product: Product, chance: random.Random) -> None:
    free = product.var / "agent-free"
    with product.logged_by("agent", "no job is claimed"):
        free.write_text(str(chance.randrange(2**20)))
        product.let_go()
    free.unlink()


def start_a_second_beat(product: Product, _: random.Random) -> None:
    words = [
        "celery",
        "--app",
        "tests.e2e.hurried",
        "beat",
        "--schedule",
        str(product.var / "second"),
        "--loglevel",
        "INFO",
    ]
    log = product.var / "second.log"
    with log.open("wb") as output:
        beat = subprocess.Popen(
            [sys.executable, "-m", *words], cwd=ROOT, env=product.environment(), stdout=output, stderr=subprocess.STDOUT
        )
    try:
        sent = "Sending due task match_jobs"
        eventually(lambda: log.read_text().count(sent) >= 2, what="both beats send tasks", seen=log.read_text)
    finally:
        beat.kill()
        beat.wait()


FAULTS: dict[str, Fault] = {
    **{f"{name} is killed": kill(name) for name in ("web", "worker", "beat", "agent", "postgres")},
    "the queue is lost": lose_the_queue,
    "the web hangs": hang,
    "the server's disk is full": fill_the_servers_disk,
    "the agent's disk is full": fill_the_agents_disk,
    "two beats send tasks": start_a_second_beat,
}
# Of these the attempt fails, and another one succeeds.
TRIED_AGAIN = ("agent is killed", "the agent's disk is full")


@pytest.mark.parametrize("seed", seeds(2))
@pytest.mark.parametrize("fault", FAULTS)
def test_nothing_is_lost_or_doubled(product: Product, fault: str, seed: int) -> None:
    chance = random.Random(f"{fault} {seed}")
    with product.held():
        (job,) = product.plan()
        product.await_batches(job, chance.randrange(1, 20))
        FAULTS[fault](product, chance)
    check_job(product, job, is_tried_again=fault in TRIED_AGAIN)


@pytest.mark.parametrize("seed", seeds(2))
def test_a_job_is_cancelled_in_any_state(product: Product, seed: int) -> None:
    chance = random.Random(f"cancel {seed}")
    with product.held():  # a run that ends before the agent hears of it is no cancelled one
        running, queued = product.plan(repetitions=2)
        product.await_batches(running, chance.randrange(1, 20))
        order = [running, queued]
        chance.shuffle(order)
        for job in order:
            assert product.http.post(f"/api/v1/jobs/{job}/cancel").status_code == 200
        product.await_state(running, *FINAL)
    with product.frozen("agent"):
        (matched,) = product.plan()
        product.await_state(matched, "matched")
        assert product.http.post(f"/api/v1/jobs/{matched}/cancel").status_code == 200
    states = [product.state(job) for job in (running, queued, matched)]
    assert states == ["cancelled"] * 3
    assert [product.runs(job) for job in (queued, matched)] == [[], []]
    ((run, uid, outcome),) = product.runs(running)
    assert outcome == "cancelled"
    check_samples(product, run, uid, is_whole=False)


def test_worker_beat_and_one_process_of_the_web_that_hang_are_started_again(product: Product) -> None:
    """Every request of others goes to the web's other process."""
    with product.held():
        (job,) = product.plan()
        product.await_batches(job, 2)
    web, one = product.running("web"), product.pids_of_web()[-1]
    with product.frozen("worker") as worker, product.frozen("beat") as beat:
        os.kill(one, signal.SIGSTOP)
        product.await_another("worker", worker)
        product.await_another("beat", beat)
        product.await_another("web", web)
    why = {each.name: each.why for each in restarts.read(product.var)[:3]}
    assert why.keys() == {"worker", "beat", "web"}
    assert "no sign of life" in why["worker"]
    assert "no sign of life" in why["beat"]
    # On a busy machine the other process may answer too slowly before.
    assert f"process {one}: it gave no sign of life" in why["web"] or "had no answer" in why["web"], why["web"]
    check_job(product, job)
