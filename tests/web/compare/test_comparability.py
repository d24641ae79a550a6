"""Whether sides may be compared, as the Compare page tells it above every number."""

from datetime import timedelta

import pytest
from django.test import Client

from apps.accounts.models import User
from apps.catalog.models import HardwareClass, System, Workload
from apps.comparison.models import Acknowledgement
from apps.runs.models import Configuration, Run, RunNode
from apps.web.compare.sections import comparability
from tests.support.builders import START, a_load_level, a_measured_run, a_system, a_user
from tests.support.pages import data, element, elements, states, text
from tests.web.compare.compared import TPS, B, address, page

pytestmark = pytest.mark.django_db
BETTER = "[data-answer] [data-verdict=better]"
AT = {"tab": "differences", "level": "4"}


def test_other_hardware_is_loud_and_withholds_the_verdict(client: Client, workload: Workload, sides: object) -> None:
    large = HardwareClass.objects.create(slug="large", name="Large", vcpu=16)
    System.objects.filter(slug="b").update(hardware_class=large)
    html = page(client, address(workload, **AT))
    assert states(html, "[data-blocking]", "blocking") == [("hardware",)]
    assert states(html, "[data-ribbon]", "ribbon") == [("not-comparable",), ("one-session",)]
    assert text(html, "[data-tab=differences] [data-mark]") == "! 1"
    assert elements(html, "[data-answer] [data-verdict='verdict withheld']")
    assert not elements(html, BETTER)
    # An old link that accepted it itself still opens, and says why that is no longer enough.
    linked = page(client, address(workload, **AT) + "&acknowledged=hardware")
    assert not elements(linked, BETTER)
    assert elements(linked, "[data-link-accepts]")
    assert not elements(html, "[data-link-accepts]")


def test_an_engineer_accepts_the_difference_with_a_reason_and_everybody_reads_it(
    client: Client, workload: Workload, sides: object
) -> None:
    large = HardwareClass.objects.create(slug="large", name="Large", vcpu=16)
    System.objects.filter(slug="b").update(hardware_class=large)
    html = page(client, address(workload, **AT))
    assert not elements(html, "form[action='/compare/acknowledge/']")
    assert elements(html, "#comparability [data-state=signed-out]")
    client.force_login(a_user(username="ann"))
    html = page(client, address(workload, **AT))
    accept = [each.attributes["value"] or "" for each in elements(html, "[name=accept]")]
    assert [len(each) for each in accept] == [64]
    query = address(workload, level="4").partition("?")[2]
    form = {"query": query, "accept": accept, "reason": ""}
    refused = client.post("/compare/acknowledge/", form, follow=True)
    assert "reason" in text(refused.content.decode(), "[data-message=error]")
    assert not Acknowledgement.objects.exists()
    accepted = client.post("/compare/acknowledge/", form | {"reason": "the next <size>"}, follow=True)
    assert elements(accepted.content.decode(), BETTER)
    client.logout()
    html = page(client, address(workload, **AT))
    assert text(html, "#comparability [data-accepted-by=ann]").endswith(": the next <size>")
    assert elements(html, BETTER)
    withdraw = f"/compare/acknowledgements/{Acknowledgement.objects.get().pk}/withdraw/"
    assert client.post(withdraw).status_code == 302
    assert elements(page(client, address(workload, **AT)), BETTER)  # nobody signed in: nothing happened
    client.force_login(User.objects.get(username="ann"))
    client.post(withdraw, {"next": address(workload)})
    assert not elements(page(client, address(workload, **AT)), BETTER)


def test_all_variables_are_shown_when_asked_for(
    client: Client, workload: Workload, sides: tuple[System, System]
) -> None:
    for system, number in zip(sides, ("1", "2"), strict=True):
        own = {"max_seeks_for_key": number, "datadir": f"/{number}"}
        configuration = Configuration.objects.create(content_hash=f"{system.pk:064x}", variables=own)
        run = system.runs.earliest("started_at")
        RunNode.objects.create(run=run, number=1, name="db1", configuration=configuration, defaults=configuration)
    html = page(client, address(workload, **AT))
    assert "variables.max_seeks_for_key" not in data(html, "field")
    assert states(html, "[data-hidden] [data-count]", "count") == [("1",), ("1",)]
    html = page(client, address(workload, **AT) + "&variables=all")
    assert {"variables.max_seeks_for_key", "variables.datadir"} <= set(data(html, "field"))
    assert "variables=all" in html  # kept by the page's other links


def test_memory_and_buffer_pool_are_always_shown_known_or_not(
    client: Client, workload: Workload, sides: tuple[System, System]
) -> None:
    sides[1].runs.update(data_bytes=2 * 2**30)
    html = page(client, address(workload, **AT))
    assert data(html, "memory") == ["a", "b"]
    for name in ("size", "pool"):
        assert text(html, f"[data-memory=a] [data-{name}]") == "not known"
    assert elements(html, "[data-memory=a] [data-state=no-content]")
    assert not elements(html, "[data-memory=a] [data-ratio]")  # of what is not known
    known = [text(html, f"[data-memory=b] [data-{name}]") for name in ("size", "machine", "ratio")]
    assert known[:2] == ["2.00 GiB", "8.00 GiB"]
    assert known[2].startswith("4.00 ×")


def test_a_table_that_grows_is_only_said_to_have_fitted_when_the_runs_began() -> None:
    assert comparability._fits(585.0) == "585\u00a0×: all of it fitted"
    assert comparability._fits(0.5) == "0.500\u00a0×: it did not fit"


def test_the_settings_that_differ_are_shown(client: Client, workload: Workload, sides: object) -> None:
    html = page(client, address(workload, **AT))
    cells = element(html, "tr[data-field='settings.sync_binlog']").css("th, td")
    assert [" ".join(each.text().split()) for each in cells] == ["sync_binlog", "not set", "0", "important"]


def differ(html: str) -> tuple[list[str], str, str]:
    """The important differences with their values, the noted ones, and how many there are."""
    named = [" ".join(each.text().split()) for each in elements(html, "[data-differences] [data-difference]")]
    minor = [each.text() for each in elements(html, "[data-differences] [data-minor]")]
    return (
        named,
        "".join(minor),
        "".join(count for (count,) in states(html, "[data-differences] [data-count]", "count") if count),
    )


def test_the_differences_are_said_in_a_sentence(
    client: Client, workload: Workload, sides: tuple[System, System]
) -> None:
    System.objects.filter(slug="a").update(settings={"sync_binlog": "1"})
    html = page(client, address(workload, **AT))
    assert differ(html) == (["sync_binlog (1 / 0)"], "", "1")
    for system, connections in zip(sides, ("100", "200"), strict=True):
        configuration = Configuration.objects.create(
            content_hash=f"{system.pk:064x}", variables={"max_connections": connections}
        )
        RunNode.objects.create(
            run=system.runs.earliest("started_at"), number=1, name="db1", configuration=configuration
        )
    sides[1].runs.update(started_at=START + timedelta(days=2))
    assert differ(page(client, address(workload, **AT))) == (
        ["sync_binlog (1 / 0)", "max_connections (100 / 200)"],
        "dates of the runs",
        "3",
    )
    System.objects.update(settings={})
    assert differ(page(client, address(workload, **AT))) == (["max_connections (100 / 200)"], "dates of the runs", "2")
    RunNode.objects.all().delete()
    sides[1].runs.update(started_at=START)
    assert differ(page(client, address(workload, **AT))) == ([], "", "")


def test_many_and_long_differences_are_shown_in_short(client: Client, workload: Workload, sides: object) -> None:
    System.objects.filter(slug="b").update(settings={f"setting_{number}": "x" * 500 for number in range(7)})
    html = page(client, address(workload, **AT))
    named, _, count = differ(html)
    assert named[0] == f"setting_0 (not set / {'x' * 32}…)"
    assert [each.partition(" ")[0] for each in named] == [f"setting_{number}" for number in range(4)]
    assert (text(html, "[data-differences] [data-more]"), count) == ("3", "7")


def test_other_hardware_is_named_once(client: Client, workload: Workload, sides: object) -> None:
    large = HardwareClass.objects.create(slug="large", name="Large", vcpu=16)
    System.objects.filter(slug="b").update(hardware_class=large)
    named, _, _ = differ(page(client, address(workload, **AT)))
    assert named[:2] == ["hardware (above)", "sync_binlog (not set / 0)"]


def test_all_differences_stand_once_on_the_page(client: Client, workload: Workload, sides: object) -> None:
    System.objects.filter(slug="b").update(settings={f"setting_{number}": "1" for number in range(12)})
    html = page(client, address(workload, **AT))
    listed = [field for (field,) in states(html, "#differences tr[data-field]", "field")]
    assert all(listed.count(f"settings.setting_{number}") == 1 for number in range(12))
    assert all(data(html, "field").count(f"settings.setting_{number}") == 1 for number in range(12))


def test_provider_options_of_one_side_alone_are_one_row_that_opens(
    client: Client, workload: Workload, sides: tuple[System, System]
) -> None:
    options = "; ".join(f"gcs.option_{number} = {number}" for number in range(30))
    for system, variables in zip(sides, ({"x": "1"}, {"x": "1", "wsrep_provider_options": options}), strict=True):
        configuration = Configuration.objects.create(content_hash=f"{system.pk:064x}", variables=variables)
        RunNode.objects.create(
            run=system.runs.earliest("started_at"), number=1, name="db1", configuration=configuration
        )
    html = page(client, address(workload, **AT))
    assert data(html, "folded") == ["0 30"]
    assert "wsrep_provider_options" in text(html, "[data-folded] th")
    assert len(elements(html, "[data-folded] dt")) == 30
    assert not elements(html, "[data-field^='variables.wsrep_provider_options']")


def test_sides_that_share_their_load_generators_machine_are_named(
    client: Client, workload: Workload, sides: object
) -> None:
    here = address(workload, level="4")
    assert "one machine" not in text(page(client, here), "[data-grounds]")
    System.objects.filter(slug="a").update(endpoint="127.0.0.1:3306")
    words = "all servers of Alpha and their load generator on one machine"
    assert words in " ".join(text(page(client, here), "[data-grounds]").split())
    System.objects.filter(slug="b").update(endpoint="localhost:3307")
    words = "all servers and their load generator on one machine"
    assert words in " ".join(text(page(client, here), "[data-grounds]").split())


def test_servers_that_name_the_load_generators_host_share_its_machine(
    client: Client, workload: Workload, sides: object
) -> None:
    Run.objects.update(host={"name": "vm-1"})
    for number, (slug, name) in enumerate((("a", "vm-1"), ("b", "vm-2"))):
        own = Configuration.objects.create(content_hash=f"{number:064x}", variables={"hostname": name})
        runs = Run.objects.filter(system__slug=slug)
        RunNode.objects.bulk_create(
            RunNode(run=run, number=9, name="db9", role="writer", configuration=own) for run in runs
        )
    here = address(workload, level="4")
    words = "all servers of Alpha and their load generator on one machine"
    assert words in " ".join(text(page(client, here), "[data-grounds]").split())
    Run.objects.update(host={"name": "localhost"})
    assert "one machine" not in text(page(client, here), "[data-grounds]")


def test_the_answer_says_what_it_rests_on_and_what_else_differs(
    client: Client, workload: Workload, sides: object
) -> None:
    said = text(page(client, address(workload, level="4")), "[data-grounds]")
    assert said.startswith("How sure: 3 runs a side, ")
    assert "on one day" in said
    assert ", all on small." in said.replace("Small", "small")
    assert said.endswith("The sides also differ in sync_binlog .") or said.endswith("sync_binlog.")
    assert "How sure: 1 to 3 runs a side" in text(page(client, address(workload, level="8")), "[data-grounds]")
    large = HardwareClass.objects.create(slug="large", name="Large", vcpu=16)
    System.objects.filter(slug="b").update(hardware_class=large)
    assert "all on" not in text(page(client, address(workload, level="4")), "[data-grounds]")


def test_of_three_sides_each_is_one_click_from_being_the_baseline(
    client: Client, workload: Workload, sides: object
) -> None:
    assert data(page(client, address(workload)), "rebase") == []  # of two
    third = a_system("third")
    for value in B:
        a_measured_run({TPS: value}, system=third, workload=workload, load_level=a_load_level(4))
    html = page(client, f"{address(workload)}&side=third")
    assert data(html, "rebase") == ["b", "third"]
    assert " ".join(text(html, "h1").split()) == "Beta and third compared with Alpha"
    href = elements(html, "[data-rebase=b]")[0].attributes["href"] or ""
    assert data(page(client, href), "baseline") == ["b"]
