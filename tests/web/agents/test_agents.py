"""The page of the agents: how to add one, and how each fares."""

import re
import tomllib
from datetime import timedelta
from html import unescape
from pathlib import Path

import pytest
from django.test import Client
from django.utils import timezone

from tests.support.builders import a_job, an_agent
from tests.web.campaigns.pages import words
from workers.agent.runtime import config

pytestmark = pytest.mark.usefixtures("enqueued")


def test_no_agents_says_how_to_add_one(db: None, client: Client) -> None:
    text = words(client.get("/agents/"))
    assert "No agents yet" in text
    assert "manage.py register_agent NAME" in text


def test_documented_configuration_is_one_that_the_agent_reads(db: None, client: Client, tmp_path: Path) -> None:
    blocks = re.findall(r"<pre[^>]*><code>(.*?)</code></pre>", client.get("/agents/").content.decode(), re.DOTALL)
    text = next(unescape(block) for block in blocks if "[server]" in block)
    (tmp_path / "agent.toml").write_text(text)
    for name in ("agent.token", "db.password"):
        (tmp_path / name).write_text("secret")
        (tmp_path / name).chmod(0o600)
    loaded = config.load(tmp_path / "agent.toml")
    assert list(loaded.systems) == [tomllib.loads(text)["systems"][0]["slug"]]
    assert loaded.url == "http://testserver"


def test_agents_say_how_they_fare(db: None, client: Client) -> None:
    now = timezone.now()
    job = a_job(state="running", progress="prepare")
    assert job.agent is not None
    job.agent.last_seen_at = now
    job.agent.health = {"spool_messages": 3, "spool_bytes": 2048, "refused_messages": 1, "free_disk_bytes": 2**30}
    job.agent.save()
    an_agent(name="gone", last_seen_at=now - timedelta(minutes=5))
    an_agent(name="new", last_seen_at=None, health={"spool_messages": "many"})
    an_agent(name="bad", last_seen_at=now, revoked_at=now)
    page = client.get("/agents/")
    text = words(page)
    for said in ("alive", "silent", "never seen", "revoked", "3 messages", "2.00 KiB", "1.00 GiB", "(prepare)"):
        assert said in text
    assert f'href="/campaigns/{job.campaign_id}/"' in page.content.decode()
    assert "not reported" in text
