"""Files of series that an agent sends with a run, read by its seal."""

import pytest

from apps.runs.ingest.accept import accept_artifact
from apps.runs.models import Artifact, Event, Run
from apps.runs.seal import seal
from tests.runs.ingest.prometheus.sent import a_file
from tests.runs.uploads import an_upload, series
from tests.support.builders import START
from workers.protocol import wire

pytestmark = pytest.mark.django_db
SECONDS = [START.timestamp() + second + 0.3 for second in range(21)]
FILE = a_file(("node_load1", {}, SECONDS, [0.5 * place for place in range(21)]), node="db1")


def sealed(content: bytes) -> Run:
    upload = an_upload()
    upload.send_batch(0)
    upload.send_batch(1)
    upload.send_batch(2)
    name = "prometheus.ndjson.gz"
    accept_artifact(run=upload.run, name=name, sha256=wire.checksum(content), content=content)
    upload.send_output()
    upload.end()
    assert seal(run_id=upload.run.pk)
    return Run.objects.get()


def test_they_are_sealed_with_what_the_agent_sampled() -> None:
    run = sealed(FILE)
    assert run.outcome == "succeeded"
    assert series("host.load.1m").mean == pytest.approx(5.0)
    assert series("mysql.status.Questions").mean == pytest.approx(100)
    assert run.samplers == ["writer: host, status, every 1 s"]


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"\x1f\x8b damaged", "the file is not gzip"),
        (a_file(("node_load1", {}, SECONDS, 1.0), node="db7"), "no node 'db7'"),
        (a_file(("node_load1", {}, [at + 1e6 for at in SECONDS], 1.0)), "no sample lies in the"),
    ],
)
def test_one_that_cannot_be_read_is_reported_and_kept_and_costs_nothing_else(content: bytes, words: str) -> None:
    run = sealed(content)
    assert run.outcome == "succeeded"
    assert words in Event.objects.get(kind="sampler_error").label
    assert Artifact.objects.filter(run=run, name="prometheus.ndjson.gz").exists()
    assert series("mysql.status.Questions").mean == pytest.approx(100)
