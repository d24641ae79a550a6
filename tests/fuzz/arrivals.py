"""Readers of what arrives beside outputs and batches: bodies, queries, files of series, and what servers answer to the
agent."""

import gzip
import io
from collections.abc import Sequence
from itertools import cycle
from typing import Any

from django.core.exceptions import RequestDataTooBig, TooManyFieldsSent, TooManyFilesSent
from django.http import HttpRequest
from rest_framework.exceptions import ParseError, ValidationError

from apps.catalog.services import KEY
from apps.rest.framework import bodies
from apps.rest.prometheus import promql
from apps.runs.ingest import batch_archive
from apps.runs.ingest.prometheus import lay, names, payload
from apps.runs.samples import batches
from tests.fuzz.rows import PARTED
from workers.agent.prometheus.collect import NodeTargets, collect
from workers.agent.prometheus.source import Access, PrometheusSource
from workers.agent.samplers import SourceReading, haproxy, postgresql, psql
from workers.protocol import wire

BOUNDARY = "b"
REFUSED_FORMS = (ParseError, ValidationError, RequestDataTooBig, TooManyFieldsSent, TooManyFilesSent)
BEGAN, LENGTH = 1_767_225_600.0, 60.0  # of the run that series are laid on


def json_body(content: bytes) -> object:
    """Whatever a view gets can be stored: no NUL, no half of a character."""
    return bodies.decode_json(content, name="body")


def form(content: bytes) -> object:
    request = HttpRequest()
    request.META["CONTENT_LENGTH"] = str(len(content))
    media_type = f"multipart/form-data; boundary={BOUNDARY}"
    found = bodies.StrictMultiPartParser().parse(io.BytesIO(content), media_type, {"request": request})
    for _, uploaded in found.files.lists():
        for file in uploaded:
            file.close()
    return None  # texts are checked by the fields of each view


def query(content: bytes) -> object:
    found = promql.parse(content.decode("utf-8", "replace"))
    assert promql.reach(found) > 0
    for selection in promql.selections(found):
        for matcher in selection.matchers:
            matcher.fits({"__name__": "mysql_up", matcher.label: matcher.value})
    return None


def series(content: bytes) -> object:
    """A file of Prometheus' series before it was compressed, laid on a run."""
    sent = payload.read(gzip.compress(content, compresslevel=1, mtime=0))
    laid = lay.lay(sent, lay.RunPart("run 1", BEGAN, LENGTH, {"db1": "writer"}))
    for each in laid.nodes:
        assert all(KEY.match(key) and len(key) <= names.LONGEST for key in each.own), each.own
    return [sent.source, [(one.node, one.labels, one.type) for one in sent.series]]


def batch_files(content: bytes) -> object:
    """The raw batches of a run that is sealed again."""
    assert sum(len(payload) for _, payload in batch_archive.unpacked(content)) <= len(content)
    return None


# ---------------------------------------------------------------- what servers answer to the agent


def haproxy_answer(content: bytes) -> object:
    _, reading = haproxy.parse_answer(content.decode(errors="replace"))
    return _sent(reading)


def psql_answer(content: bytes) -> object:
    lines = content.decode("utf-8", "replace").splitlines()
    return _sent(SourceReading(postgresql.sampled(psql.row_of(lines)).values))


class _AnsweredSource(PrometheusSource):
    """Each question is answered by the next of these bodies, from the first again."""

    def __init__(self, answers: Sequence[bytes]) -> None:
        super().__init__(Access("http://prometheus:9090"), sleep=lambda _seconds: None)
        self._answers = cycle(answers)

    def _once(self, path: str, _asked: Sequence[tuple[str, str]]) -> Any:
        return self._data(path, next(self._answers))


def prometheus_answers(content: bytes) -> object:
    """What was collected is a file that the server reads, or refuses in a sentence."""
    source = _AnsweredSource(content.split(PARTED))
    found = collect(source, [NodeTargets("db1")], begin=BEGAN, end=BEGAN + LENGTH)
    if found.series:
        assert len(payload.read(found.content).series) == found.series
    return found.series


def _sent(reading: SourceReading) -> object:
    """As a batch, which the server reads."""
    encoder = wire.BatchEncoder(run="r")
    encoder.add_sample(node="db1", role="writer", t=0.0, values=reading.values)
    _, batch = encoder.flush()
    batches.Decoder().feed(batch)
    return None
