"""How many trials the figures of a group are of: not all are read back, and some do not count."""

import pytest
from django.test import Client

from apps.catalog.models import System
from tests.support.failed_over import a_failover, made_up
from tests.support.pages import text
from tests.web.failovers.test_failovers import page_of

pytestmark = pytest.mark.django_db


def test_zero_of_some_trials_says_how_many_were_not_read_back(client: Client, galera: System) -> None:
    a_failover(galera, made_up(2.0))
    a_failover(galera, made_up(3.0, is_whole=False), outcome="failed", reason="it broke off")
    page = page_of(client)
    words = "no acknowledged write lost in 1 of 2 trials"
    assert f"{words}, 1 not read back" in text(page, "[data-card=cluster] p")
    assert f"{words}; 1 not read back" in text(page, ".race > header")
    for key in ("lost", "errant"):
        assert text(page, f"[data-row-fault] [data-count-of={key}]").split() == ["0", "1", "not", "read"]
    assert f"{words}, 1 not read back" in client.get("/failovers/failovers.md").content.decode()
    (group,) = client.get("/api/v1/failovers/").json()["groups"]
    assert (group["counts"]["lost"], group["unread"]["lost"]) == ([0, 0], 1)


def test_a_group_of_which_no_trial_counts_has_no_unit_and_no_median(client: Client, galera: System) -> None:
    a_failover(galera, made_up(9.0), is_excluded=True)
    page = page_of(client)
    assert text(page, "[data-side] .race-table__median") == "no trial counts"
    assert "median of" not in text(page, "[data-side] th")
    # Nor is anything said of tables that were read back.
    assert "read" not in text(page, "[data-card=cluster]") + text(page, "[data-row-fault]")
    assert "read" not in client.get("/failovers/failovers.md").content.decode().partition("| Platform")[0]
