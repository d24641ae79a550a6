"""The page Health: for administrators; what is wrong comes first, and nothing wrong is one line."""

from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from apps.core.server import restarts
from apps.operations.models import Backup
from tests.support.builders import a_job, a_user
from tests.support.pages import data, elements, text
from tests.support.stores import forget_tasks

PAGE = "/health/"


@pytest.fixture
def administrator(db: None, client: Client, tmp_path: Path, settings: Any) -> Client:
    settings.VAR_DIR = tmp_path
    forget_tasks()
    client.force_login(a_user(username="ada", role="administrator"))
    return client


def a_backup(**fields: Any) -> Backup:
    now = timezone.now()
    return Backup.objects.create(**{"taken_at": now, "finished_at": now, "folder": "b", "size": 1, **fields})


def test_only_administrators_see_it(db: None, client: Client) -> None:
    assert client.get(PAGE).status_code == 302
    client.force_login(a_user(role="engineer"))
    assert client.get(PAGE).status_code == 403
    assert not elements(client.get("/agents/").content.decode(), f"a[href='{PAGE}']")


def test_agents_and_account_link_to_it(administrator: Client) -> None:
    for page in ("/agents/", "/account/"):
        assert elements(administrator.get(page).content.decode(), f"a[href='{PAGE}']")


def test_nothing_wrong_is_one_line(administrator: Client) -> None:
    a_backup()
    page = administrator.get(PAGE).content.decode()
    assert elements(page, "[data-state=healthy]")
    assert set(data(page, "verdict")) == {"ok"}
    assert len(elements(page, "details [data-check]")) == len(data(page, "check"))


def test_what_is_wrong_comes_first_with_what_to_do(administrator: Client) -> None:
    now = timezone.now()
    a_backup(taken_at=now - timedelta(days=40))
    a_job(state="failed", finished_at=now)
    page = administrator.get(PAGE).content.decode()
    assert data(page, "check")[:2] == ["backup", "failures"]
    assert data(page, "verdict")[:3] == ["wrong", "warning", "ok"]
    assert "make backup" in text(page, "[data-check=backup]")
    assert not elements(page, "[data-state=healthy]")
    assert administrator.get(f"{PAGE}?unknown=1").status_code == 400


def test_programs_that_were_started_again_are_listed_with_the_reason(administrator: Client, tmp_path: Path) -> None:
    for at, name in ((1_700_000_000.0, "web"), (1_700_000_100.0, "postgres")):
        restarts.note(tmp_path, restarts.Restart(name, at, f"{name} hung"))
    page = administrator.get(PAGE).content.decode()
    shown = [row.text(separator=" ") for row in elements(page, "[data-restart]")]
    assert [name in row for name, row in zip(("postgres hung", "web hung"), shown, strict=True)] == [True, True]
    (tmp_path / restarts.FILE).write_text("{")
    assert not elements(administrator.get(PAGE).content.decode(), "[data-restart]")
