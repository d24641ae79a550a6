"""What must hold of a job after any fault."""

from tests.faults import agent
from tests.faults.stack import FINAL, Product
from workers.protocol.wire import checksum


def check_job(product: Product, job: int, *, is_tried_again: bool = False) -> None:
    """It succeeds, in its first attempt unless `is_tried_again`, and nothing of its runs is lost or doubled."""
    product.await_state(job, *FINAL)
    assert product.state(job) == "succeeded", product.progress()
    runs = product.runs(job)
    assert [outcome for *_, outcome in runs][-1:] == ["succeeded"], product.progress()
    assert len(runs) == 1 or (is_tried_again and [outcome for *_, outcome in runs].count("succeeded") == 1)
    for run, uid, outcome in runs:
        check_samples(product, run, uid, is_whole=outcome == "succeeded")
        if outcome == "succeeded":
            check_artifacts(product, run, uid)


def check_samples(product: Product, run: int, uid: str, *, is_whole: bool) -> None:
    """All that the agent sent, once and in order; of a run that was cut short all that was in its spool."""
    sent, kept = agent.samples(uid), product.samples(run, agent.METRIC)
    assert kept == sent[: len(kept)]
    spooled = int((product.var / "flushed" / uid).read_text())
    assert len(kept) == len(sent) if is_whole else len(kept) >= spooled


def check_artifacts(product: Product, run: int, uid: str) -> None:
    """All that the agent sent, once, with their digests, and readable."""
    sent = {name: checksum(content) for name, content in agent.artifacts(uid).items()}
    kept = product.rows("SELECT name, sha256 FROM runs_artifact WHERE run_id = %s", run)
    assert sorted(kept) == sorted(sent.items())
    for name, digest in sent.items():
        answer = product.http.get(f"/api/v1/runs/{run}/artifacts/{name}")
        assert (answer.status_code, checksum(answer.content)) == (200, digest), name
