"""Whether sides may be compared, as the Compare page tells it above every number."""

import re
from datetime import timedelta

import pytest
from django.test import Client

from apps.accounts.models import User
from apps.catalog.models import HardwareClass, System, Workload
from apps.comparison.models import Acknowledgement
from apps.runs.models import Configuration, RunNode
from apps.web.compare.sections import comparability
from tests.support.builders import START, a_user
from tests.web.compare.compared import address, page, text_of

pytestmark = pytest.mark.django_db


def test_other_hardware_is_loud_and_withholds_the_verdict(client: Client, workload: Workload, sides: object) -> None:
    large = HardwareClass.objects.create(slug="large", name="Large", vcpu=16)
    System.objects.filter(slug="b").update(hardware_class=large)
    html = page(client, address(workload))
    assert html.index("Different hardware.") < html.index("data-answer")
    assert "verdict withheld" in html
    assert "withheld</span>" in html
    assert "better</span>" not in html
    # An old link that accepted it itself still opens, and says why that is no longer enough.
    linked = page(client, address(workload) + "&acknowledged=hardware")
    assert "better</span>" not in linked
    assert "data-link-accepts" in linked
    assert "data-link-accepts" not in html


def test_an_engineer_accepts_the_difference_with_a_reason_and_everybody_reads_it(
    client: Client, workload: Workload, sides: object
) -> None:
    large = HardwareClass.objects.create(slug="large", name="Large", vcpu=16)
    System.objects.filter(slug="b").update(hardware_class=large)
    html = page(client, address(workload))
    assert "compare/acknowledge/" not in html
    assert "signed in" in html
    client.force_login(a_user(username="ann"))
    html = page(client, address(workload))
    accept = re.findall(r'name="accept" value="([0-9a-f]{64})"', html)
    assert len(accept) == 1
    query = address(workload).partition("?")[2]
    form = {"query": query, "accept": accept, "reason": ""}
    refused = client.post("/compare/acknowledge/", form, follow=True)
    assert "must state in 1 to 2,000 characters" in refused.content.decode()
    accepted = client.post("/compare/acknowledge/", form | {"reason": "the next <size>"}, follow=True)
    assert "better</span>" in accepted.content.decode()
    client.logout()
    html = page(client, address(workload))
    box = re.search(r'<section id="comparability".*?</section>', html, re.DOTALL)
    assert box
    assert "Accepted by ann," in text_of(box[0])
    assert "the next &lt;size&gt;" in box[0]
    assert "better</span>" in html
    withdraw = f"/compare/acknowledgements/{Acknowledgement.objects.get().pk}/withdraw/"
    assert client.post(withdraw).status_code == 302
    assert "better</span>" in page(client, address(workload))  # nobody signed in: nothing happened
    client.force_login(User.objects.get(username="ann"))
    client.post(withdraw, {"next": address(workload)})
    assert "better</span>" not in page(client, address(workload))


def test_all_variables_are_shown_when_asked_for(
    client: Client, workload: Workload, sides: tuple[System, System]
) -> None:
    for system, method in zip(sides, ("fsync", "O_DIRECT"), strict=True):
        own = {"innodb_flush_method": method, "datadir": f"/{method}"}
        configuration = Configuration.objects.create(content_hash=f"{system.pk:064x}", variables=own)
        run = system.runs.earliest("started_at")
        RunNode.objects.create(run=run, number=1, name="db1", configuration=configuration, defaults=configuration)
    html = page(client, address(workload))
    assert 'data-field="variables.innodb_flush_method"' not in html
    shown = text_of(re.search(r"<p[^>]*data-hidden.*?</p>", html, re.DOTALL)[0])  # type: ignore[index]
    assert shown.startswith("Not shown: 1 variable that is at the server")
    assert "default on every side (innodb_flush_method); 1 variable" in shown
    html = page(client, address(workload) + "&variables=all")
    assert 'data-field="variables.innodb_flush_method"' in html
    assert 'data-field="variables.datadir"' in html
    assert "variables=all" in html  # kept by the page's other links


def test_memory_and_buffer_pool_are_always_told_known_or_not(
    client: Client, workload: Workload, sides: tuple[System, System]
) -> None:
    sides[1].runs.update(data_bytes=2 * 2**30)
    html = page(client, address(workload))
    shown = [text_of(each) for each in re.findall(r"<li data-memory=.*?</li>", html, re.DOTALL)]
    assert len(shown) == 2
    assert "data at the start not known" in shown[0]
    assert "buffer pool not known" in shown[0]
    assert "pool content not known" in shown[0]
    assert "data at the start 2.00 GiB · memory 8.00 GiB, ÷ data 4.00 ×" in shown[1].replace("\u00a0", " ")
    assert html.index("data-memory") < html.index("data-answer")


def test_a_table_that_grows_is_only_said_to_have_fitted_when_the_runs_began() -> None:
    assert comparability._fits(585.0) == "585\u00a0×: all of it fitted"
    assert comparability._fits(0.5) == "0.500\u00a0×: it did not fit"


def test_the_settings_that_differ_are_shown(client: Client, workload: Workload, sides: object) -> None:
    row = re.search(r'<tr data-field="settings.sync_binlog".*?</tr>', page(client, address(workload)), re.DOTALL)
    assert row
    assert text_of(row[0]) == "sync_binlog not set 0 important"


def differ(html: str) -> str:
    """The sentence above the numbers, which opens the list of all of them."""
    found = re.search(r"<summary data-differences>.*?</summary>", html, re.DOTALL)
    assert found
    assert found.start() < html.index("data-answer")
    return text_of(found[0]).replace(" ;", ";").replace(" .", ".")


def test_the_differences_stand_above_the_numbers(
    client: Client, workload: Workload, sides: tuple[System, System]
) -> None:
    System.objects.filter(slug="a").update(settings={"sync_binlog": "1"})
    html = page(client, address(workload))
    assert differ(html) == "The sides differ in: sync_binlog (1 / 0). All 1"
    assert html.index('data-field="settings.sync_binlog"') < html.index("data-answer")
    for system, connections in zip(sides, ("100", "200"), strict=True):
        configuration = Configuration.objects.create(
            content_hash=f"{system.pk:064x}", variables={"max_connections": connections}
        )
        RunNode.objects.create(
            run=system.runs.earliest("started_at"), number=1, name="db1", configuration=configuration
        )
    sides[1].runs.update(started_at=START + timedelta(days=2))
    assert differ(page(client, address(workload))) == (
        "The sides differ in: sync_binlog (1 / 0), max_connections (100 / 200); noted: dates of the runs. All 3"
    )
    System.objects.update(settings={})
    assert differ(page(client, address(workload))) == (
        "The sides differ in: max_connections (100 / 200); noted: dates of the runs. All 2"
    )
    RunNode.objects.all().delete()
    sides[1].runs.update(started_at=START)
    assert differ(page(client, address(workload))) == "No recorded differences."


def test_many_and_long_differences_are_told_in_short(client: Client, workload: Workload, sides: object) -> None:
    System.objects.filter(slug="b").update(settings={f"setting_{number}": "x" * 500 for number in range(7)})
    shown = differ(page(client, address(workload)))
    assert f"setting_0 (not set / {'x' * 32}…)" in shown
    assert "setting_3" in shown
    assert "setting_4" not in shown
    assert shown.endswith("and 3 more. All 7")


def test_other_hardware_is_named_once_above_the_numbers(client: Client, workload: Workload, sides: object) -> None:
    large = HardwareClass.objects.create(slug="large", name="Large", vcpu=16)
    System.objects.filter(slug="b").update(hardware_class=large)
    assert differ(page(client, address(workload))).startswith(
        "The sides differ in: hardware (above), sync_binlog (not set / 0)"
    )


def test_all_differences_stand_once_on_the_page_closed_and_above_the_numbers(
    client: Client, workload: Workload, sides: object
) -> None:
    System.objects.filter(slug="b").update(settings={f"setting_{number}": "1" for number in range(12)})
    html = page(client, address(workload))
    found = re.search(r'<details class="compare-differ" id="differences">.*?</table>', html, re.DOTALL)
    assert found
    assert found.start() < html.index("data-answer")
    assert all(html.count(f'data-field="settings.setting_{number}"') == 1 for number in range(12))


def test_provider_options_of_one_side_alone_are_one_row_that_opens(
    client: Client, workload: Workload, sides: tuple[System, System]
) -> None:
    options = "; ".join(f"gcs.option_{number} = {number}" for number in range(30))
    for system, variables in zip(sides, ({"x": "1"}, {"x": "1", "wsrep_provider_options": options}), strict=True):
        configuration = Configuration.objects.create(content_hash=f"{system.pk:064x}", variables=variables)
        RunNode.objects.create(
            run=system.runs.earliest("started_at"), number=1, name="db1", configuration=configuration
        )
    html = page(client, address(workload))
    row = re.search(r"<tr data-folded>.*?</tr>", html, re.DOTALL)
    assert row
    assert text_of(row[0]).startswith("wsrep_provider_options, 30 of them not set 30 set")
    assert text_of(row[0]).count("gcs.option_") == 30
    assert 'data-field="variables.wsrep_provider_options' not in html
