"""The page that plans a campaign: what is typed is counted, kept and, if it is right, begun."""

from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from apps.catalog.models import Workload
from apps.catalog.services import workload_for
from apps.dispatch.models import Campaign
from tests.support.builders import a_system, a_user, a_workload, an_agent
from tests.support.pages import data, element, elements, states, text
from tests.web.campaigns.pages import HTMX, a_form
from workers.protocol.workloads.kinds import KINDS, READS, WRITES

pytestmark = pytest.mark.usefixtures("enqueued")


def chosen(html: str, name: str) -> list[str | None]:
    """Values of the checked boxes of that name."""
    return [node.attributes["value"] for node in elements(html, f"[name={name}][checked]")]


def test_stranger_is_asked_to_sign_in_and_a_reader_is_refused(db: None, client: Client) -> None:
    assert client.get("/campaigns/new/").headers["Location"] == "/sign-in/?next=/campaigns/new/"
    assert client.post("/campaigns/new/", {}).status_code == 302
    client.force_login(a_user(role="reader"))
    assert client.get("/campaigns/new/").status_code == 403
    assert client.post("/campaigns/new/", {}).status_code == 403


def test_plan_becomes_a_campaign_and_is_matched(engineer: Client, enqueued: list[str]) -> None:
    an_agent(a_system("a"), a_system("b"), last_seen_at=timezone.now())
    answer = engineer.post("/campaigns/new/", a_form())
    campaign = Campaign.objects.get()
    assert answer.headers["Location"] == f"/campaigns/{campaign.pk}/"
    entry = campaign.entries.get()
    assert (campaign.name, campaign.repetitions, entry.warmup, entry.duration) == ("flush 1 or 2", 3, 1.0, 5.0)
    assert campaign.created_by is not None
    assert campaign.created_by.username == "ann"
    assert [level.threads for level in entry.load_levels.all()] == [1, 4, 8]
    assert [job.system.slug for job in campaign.jobs.order_by("position")] == ["a", "b", "b", "a", "a", "b"]
    assert enqueued == ["workers.tasks.match_jobs"]


def test_new_workload_is_made_with_the_plan(engineer: Client) -> None:
    an_agent(a_system("a"), a_system("b"), last_seen_at=timezone.now())
    engineer.post("/campaigns/new/", a_form(workloads=[], test="oltp_insert", tables="2", table_size="500"))
    workload = Campaign.objects.get().entries.get().workload
    assert workload.parameters == {"test": "oltp_insert", "tables": 2, "table_size": 500}


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("name", ""),
        ("systems", []),
        ("systems", ["gone"]),
        ("workloads", []),
        ("threads", "1, four"),
        ("threads", "0"),
        ("threads", ""),
        ("repetitions", "0"),
        ("repetitions", "many"),
        ("warmup", "-1"),
        ("warmup", ""),
        ("duration", "0"),
        ("duration", "nan"),
        ("test", "made_up"),
    ],
)
def test_what_is_wrong_stands_beside_its_field_and_nothing_typed_is_lost(
    engineer: Client, field: str, value: Any
) -> None:
    a_system("a"), a_system("b")
    form = a_form(name="my plan", threads="2, 16", tables="7", table_size="123", repetitions="5", warmup="2.5")
    page = engineer.post("/campaigns/new/", form | {field: value})
    html = page.content.decode()
    assert page.status_code == 422
    assert not Campaign.objects.exists()
    assert text(html, f"#{field}-error")
    assert field in data(html, "field")
    kept = {"name": "my plan", "threads": "2, 16", "tables": "7", "table_size": "123", "repetitions": "5"}
    for name, typed in {**kept, "warmup": "2.5", "duration": "5"}.items():
        if name != field:
            assert element(html, f"[name={name}]").attributes["value"] == typed, name
    if field != "systems":
        assert chosen(html, "systems") == ["a", "b"]


def test_size_that_is_too_large_is_refused_as_a_whole(engineer: Client) -> None:
    for number in range(101):
        a_system(f"s{number}")
    page = engineer.post("/campaigns/new/", a_form(systems=[f"s{n}" for n in range(101)], repetitions="100"))
    html = page.content.decode()
    assert states(html, "[data-problems] li", "field") == [("",)]
    assert "10,100" in text(html, "[data-problems] li")
    assert not Campaign.objects.exists()


def test_size_is_counted_while_typing(engineer: Client) -> None:
    a_system("a"), a_system("b")
    counted = engineer.get("/campaigns/new/size/", a_form(), headers=HTMX)
    html = counted.content.decode()
    assert states(html, "[data-jobs]", "jobs", "runs") == [("6", "18")]
    assert text(html, "[data-duration]") == "3 min 24 s"
    assert "<html" not in html
    incomplete: list[dict[str, Any]] = [{"systems": []}, {"threads": "x"}, {"duration": ""}, {"repetitions": "-1"}]
    for missing in incomplete:
        answer = engineer.get("/campaigns/new/size/", a_form(**missing), headers=HTMX)
        assert answer.status_code == 200
        assert data(answer.content.decode(), "count") == [""]


def test_address_can_propose_a_plan(engineer: Client) -> None:
    a_system("a"), a_system("b")
    workload = a_workload("oltp_read_only")
    page = engineer.get(f"/campaigns/new/?system=a&system=b&workload={workload.pk}&threads=2&repetitions=5&workload=x")
    html = page.content.decode()
    assert chosen(html, "systems") == ["a", "b"]
    assert chosen(html, "workloads") == [str(workload.pk)]
    assert states(html, "#size [data-jobs]", "jobs", "runs") == [("10", "10")]


def test_archived_systems_are_not_offered(engineer: Client) -> None:
    a_system("new")
    a_system("old", archived_at=timezone.now())
    html = engineer.get("/campaigns/new/").content.decode()
    assert [node.attributes["value"] for node in elements(html, "[name=systems]")] == ["new"]


def test_without_systems_the_plan_says_where_they_come_from(engineer: Client) -> None:
    assert elements(engineer.get("/campaigns/new/").content.decode(), "[data-state=empty] [href='/agents/']")


def test_everything_that_is_wrong_is_said_at_once_with_links_to_the_fields(engineer: Client) -> None:
    form = a_form(name="", systems=[], threads="four", repetitions="0", warmup="", test="oltp_insert", tables="0")
    html = engineer.post("/campaigns/new/", form).content.decode()
    fields = ["name", "systems", "tables", "threads", "repetitions", "warmup"]
    links = [node.attributes["href"] for node in elements(html, "[data-problems] [data-field] a")]
    assert links == [f"#id_{field}" for field in fields]
    for field in fields:
        assert elements(html, f"#id_{field}"), field
        assert len(elements(html, f"#{field}-error")) == 1


def test_the_size_says_which_jobs_no_agent_could_take(engineer: Client) -> None:
    reached = a_system("a")
    a_system("b")
    an_agent(reached, last_seen_at=timezone.now())

    def waiting(**fields: Any) -> list[tuple[str | None, ...]]:
        html = engineer.get("/campaigns/new/size/", a_form(**fields), headers=HTMX).content.decode()
        return states(html, "[data-jobs]", "jobs") + states(html, "[data-waiting]", "waiting", "systems")

    assert waiting() == [("6",), ("3", "b")]
    assert waiting(systems=["b"], repetitions="1") == [("1",), ("1", "b")]
    assert waiting(systems=["a"]) == [("3",)]


@pytest.mark.django_db
def test_the_plan_offers_first_what_an_agent_reaches_and_marks_the_rest(client: Client) -> None:
    client.force_login(a_user())
    a_system("alone")
    reached = a_system("reached")
    an_agent(reached, last_seen_at=timezone.now())
    page = client.get("/campaigns/new/").content.decode()
    assert [node.attributes["value"] for node in elements(page, "[name=systems]")] == ["reached", "alone"]
    assert data(page, "unreachable") == ["alone"]
    assert not elements(page, "[name=systems][disabled]"), "what it would take can be seen before there is an agent"


def test_a_plan_on_a_system_that_no_agent_reaches_is_refused_with_the_remedy(
    engineer: Client, enqueued: list[str]
) -> None:
    an_agent(a_system("a"), last_seen_at=timezone.now())
    a_system("b")
    known = Workload.objects.count()
    answer = engineer.post("/campaigns/new/", a_form(test="oltp_insert", table_size="77"))
    html = answer.content.decode()
    assert answer.status_code == 422
    assert (Campaign.objects.exists(), Workload.objects.count() - known, enqueued) == (False, 1, [])  # that of a_form
    assert states(html, "[data-problems] li", "field") == [("systems",)]
    assert "b" in text(html, "#systems-error")
    assert elements(html, "[data-problems] a[href='/help/howto/agent/']")


def test_a_plan_that_is_refused_leaves_no_workload_behind(engineer: Client) -> None:
    for slug in ("a", "b"):
        a_system(slug=slug)
    form = a_form(name="", workloads=[], test="oltp_insert", table_size="77")
    known = Workload.objects.count()
    assert engineer.post("/campaigns/new/", form).status_code == 422
    assert Workload.objects.count() == known


def test_a_chosen_workload_may_have_its_own_load_and_times(engineer: Client) -> None:
    an_agent(a_system("a"), a_system("b"), last_seen_at=timezone.now())
    own, shared = a_workload("oltp_insert"), a_workload("oltp_read_only")
    form = a_form(workloads=[own.pk, shared.pk], **{f"threads_{own.pk}": "2, 16", f"duration_{own.pk}": "9"})
    counted = engineer.get("/campaigns/new/size/", form, headers=HTMX).content.decode()
    assert states(counted, "[data-jobs]", "jobs", "runs") == [(str(2 * 2 * 3), str(2 * 3 * (2 + 3)))]
    engineer.post("/campaigns/new/", form)
    entries = Campaign.objects.get().entries.order_by("duration")
    said = [(e.workload, [level.threads for level in e.load_levels.all()], e.warmup, e.duration) for e in entries]
    assert said == [(shared, [1, 4, 8], 1.0, 5.0), (own, [2, 16], 1.0, 9.0)]


def test_loading_a_dump_is_asked_for_no_times(engineer: Client) -> None:
    an_agent(a_system("a"), a_system("b"), last_seen_at=timezone.now())
    load = a_workload("restore")
    load.tool, load.parameters = "data_load", {}
    load.save()
    page = engineer.get("/campaigns/new/").content.decode()
    assert "takes as long as its work" in page
    assert f'name="duration_{load.pk}"' not in page
    engineer.post("/campaigns/new/", a_form(workloads=[load.pk]))
    campaign = Campaign.objects.get()
    assert campaign.entries.get().duration == 1
    assert "as long as its work" in engineer.get(f"/campaigns/{campaign.pk}/").content.decode()


def test_what_is_wrong_with_a_workloads_own_stands_beside_it_and_is_kept(engineer: Client) -> None:
    a_system("a"), a_system("b")
    key = a_workload().pk
    wrong = {f"threads_{key}": "many", f"duration_{key}": "-3", f"warmup_{key}": "soon"}
    html = engineer.post("/campaigns/new/", a_form(**wrong)).content.decode()
    assert not Campaign.objects.exists()
    for name, typed in wrong.items():
        assert element(html, f"[name={name}]").attributes["value"] == typed, name
        assert len(elements(html, f"#{name}-error")) == 1, name


def test_a_plan_may_climb_until_the_system_is_saturated(engineer: Client) -> None:
    an_agent(a_system("a"), a_system("b"), last_seen_at=timezone.now())
    engineer.post("/campaigns/new/", a_form(climb="on"))
    entry = Campaign.objects.get().entries.get()
    assert (entry.ends_when_refused, entry.least_gain) == (True, 0.05)


def test_of_a_plan_that_climbs_a_failover_is_measured_once(engineer: Client) -> None:
    an_agent(a_system("a"), a_system("b"), last_seen_at=timezone.now())
    failover = workload_for(tool="failover", parameters={})
    engineer.post("/campaigns/new/", a_form(climb="on", workloads=[a_workload().pk, failover.pk]))
    climbs = Campaign.objects.get().entries.values_list("workload__tool", "ends_when_refused", "least_gain")
    assert set(climbs) == {("sysbench", True, 0.05), ("failover", False, None)}
    levels = Campaign.objects.get().entries.get(workload=failover).load_levels
    assert [str(level) for level in levels.all()] == ["1 thread"]


def test_workloads_are_offered_by_kind_of_load_with_tool_and_parameters(engineer: Client) -> None:
    a_workload("oltp_insert"), a_workload("oltp_read_only")
    page = engineer.get("/campaigns/new/").content.decode()
    assert data(page, "kind") == [KINDS[READS], KINDS[WRITES]]
    for kind, name in ((READS, "oltp_read_only"), (WRITES, "oltp_insert")):
        offer = text(page, f"[data-kind='{KINDS[kind]}'] .pick")
        assert name in offer
        assert "sysbench: " in offer
