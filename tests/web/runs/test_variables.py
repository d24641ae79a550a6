"""The server variables of one run."""

import pytest
from django.test import Client
from pytest_django.fixtures import DjangoAssertNumQueries

from apps.runs.models import Run
from tests.runs.uploads import an_open_run
from tests.support.builders import a_run
from tests.support.pages import data, elements, states, text
from tests.web.runs.recorded_runs import a_sealed_run

pytestmark = pytest.mark.django_db
HTMX = {"HX-Request": "true"}


def _page(client: Client, run: Run) -> str:
    return client.get(f"/runs/{run.pk}/variables/").content.decode()


def test_the_runs_page_says_how_many_there_are_and_where(client: Client) -> None:
    run = a_sealed_run()
    page = client.get(f"/runs/{run.pk}/").content.decode()
    assert any(each.isdigit() for each in text(page, "#variables summary").replace(",", "").split())
    assert elements(page, f"#variables a[href='/runs/{run.pk}/variables/']")
    assert not data(page, "variable")


def test_server_variables_are_listed(client: Client, django_assert_num_queries: DjangoAssertNumQueries) -> None:
    run = a_sealed_run()
    with django_assert_num_queries(2):
        part = client.get(f"/runs/{run.pk}/variables/", headers=HTMX).content.decode()
    for page in (part, _page(client, run)):
        assert text(page, "[data-variable=port] .value") == "3306"
    assert "<html" not in part


def test_variables_that_differ_between_nodes_are_marked(client: Client) -> None:
    run = an_open_run(nodes=["db1", "db2"])
    node = run.nodes.get(name="db2")
    node.configuration = None
    node.save()
    assert not data(_page(client, run), "differs")
    other = an_open_run(system=run.system, workload=run.workload, nodes=["db1"])
    configuration = other.nodes.get(name="db1").configuration
    assert configuration is not None
    configuration.pk, configuration.content_hash = None, "b" * 64
    configuration.variables = {"port": "3307"}
    configuration.save()
    node.configuration = configuration
    node.save()
    assert "port" in [name for (name,) in states(_page(client, run), "[data-differs]", "variable")]


def test_a_run_without_variables_says_so_and_one_that_is_not_there_too(client: Client) -> None:
    assert "no-variables" in data(_page(client, a_run(provenance="submitted")), "state")
    assert client.get("/runs/999999/variables/").status_code == 404
