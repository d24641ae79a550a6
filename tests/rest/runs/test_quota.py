"""Nobody fills the disk alone."""

from datetime import timedelta

import pytest
from django.conf import LazySettings
from django.core.files.storage import default_storage
from django.utils import timezone
from rest_framework.test import APIClient

from apps.core import limits
from apps.runs.models import Allowance, Artifact, Run
from tests.rest.submissions import POINT_SELECT, a_description, send
from tests.rest.talk import Talk, a_run_message, the_agent
from tests.support.builders import a_campaign, a_user

pytestmark = pytest.mark.django_db
SIZE = POINT_SELECT.stat().st_size


def back_dated(hours: float) -> None:
    """As if what was stored had been stored so many hours ago."""
    for row in Allowance.objects.all():
        Allowance.objects.filter(pk=row.pk).update(counted_at=timezone.now() - timedelta(hours=hours))


def test_what_exceeds_a_day_is_not_written_and_may_be_sent_when_the_answer_says_so(
    engineer: APIClient, settings: LazySettings
) -> None:
    settings.UPLOADS_A_DAY = round(SIZE * 1.5)
    assert send(engineer, a_description()).status_code == 201
    before = default_storage.listdir("")
    second = a_description(repetition=2)
    changed = POINT_SELECT.read_bytes().replace(b"Threads started!", b"Threads started")
    answer = send(engineer, second, changed)
    assert answer.status_code == 429
    assert "of raw files a day of person" in answer.json()["detail"]
    # Half of a file too much, and two thirds of a file are given back in 16 hours.
    wait = int(answer.headers["Retry-After"])
    assert 7 < wait / 3600 < 8.1
    assert (Run.objects.count(), default_storage.listdir("")) == (1, before)
    back_dated(wait / 3600 - 0.1)
    assert send(engineer, second, changed).status_code == 429
    back_dated(wait / 3600 + 0.1)
    assert send(engineer, second, changed).status_code == 201


def test_others_are_not_stopped_by_it(engineer: APIClient, settings: LazySettings) -> None:
    settings.UPLOADS_A_DAY = round(SIZE * 1.5)
    other = APIClient()
    other.force_authenticate(a_user(username="bob"))
    assert send(engineer, a_description()).status_code == 201
    assert send(other, a_description(repetition=2)).status_code == 201


def test_an_agent_keeps_its_file_and_is_told_how_long(talk: Talk, settings: LazySettings) -> None:
    settings.UPLOADS_A_DAY = 1000
    job = a_campaign(threads=(1,)).jobs.get()
    the_agent(job.system)
    claimed = talk.claim()
    uid = claimed.runs[0].uid
    talk.say("PUT", f"runs/{uid}", a_run_message(claimed))
    assert talk.put_bytes(f"runs/{uid}/artifacts/a.txt", b"a" * 900).status_code == 201
    answer = talk.put_bytes(f"runs/{uid}/artifacts/b.txt", b"b" * 900)
    assert (answer.status_code, answer.headers["Retry-After"]) == (429, str(800 * 86400 // 1000))
    assert [artifact.name for artifact in Artifact.objects.all()] == ["a.txt"]


def test_a_run_has_a_limit_of_its_own(talk: Talk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "ARTIFACT_BYTES", 1000)
    job = a_campaign(threads=(1,)).jobs.get()
    the_agent(job.system)
    claimed = talk.claim()
    uid = claimed.runs[0].uid
    talk.say("PUT", f"runs/{uid}", a_run_message(claimed))
    assert talk.put_bytes(f"runs/{uid}/artifacts/a.txt", b"a" * 900).status_code == 201
    answer = talk.put_bytes(f"runs/{uid}/artifacts/b.txt", b"b" * 101)
    assert (answer.status_code, answer.json()["errors"][0]["field"]) == (422, "name")
    assert "has 1 artifacts of 900\u00a0B: as many as a run may have" in answer.json()["detail"]
