"""Messages to chats: valid by what the products document, without markup of strangers, the answer first."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.utils import timezone
from jsonschema import Draft202012Validator
from markdown_it import MarkdownIt

from apps.catalog.models import HardwareClass, Platform, System, Workload
from apps.notifications import chat, collect, services
from apps.notifications.models import Delivery, NotificationEvent, Subscription
from apps.regressions.findings import review
from apps.regressions.models import Change, Finding
from tests.notifications.made import a_finding as without_changes
from tests.notifications.made import a_note, a_subscription, a_team
from tests.regressions.a_finding import a_finding, gone
from tests.support.builders import a_user

FOLDER = Path(__file__).parent / "data"
KINDS = ("slack", "teams", "mattermost")
HOSTILE = (
    "<!channel> @here *b* _i_ ~s~ `c` [x](http://evil.example) <http://evil.example|y> & {{DATE(2017-01-01T00:00:00Z)}}"
)
NAME = "<!channel> @here *b* _i_ `c` [x](http://evil.example) & {{DATE(1)}}"
# A size, as in "−12 %".
SIZE = re.compile(r"[−+]\d[\d.,]*\s%")


def validate(kind: str, body: dict[str, Any]) -> None:
    schema = json.loads((FOLDER / f"{kind}.schema.json").read_text())
    Draft202012Validator.check_schema(schema)
    Draft202012Validator(schema).validate(body)
    if kind == "teams":
        assert len(chat.encoded(body)) <= 28_000


def subscribed() -> None:
    team = a_team()
    for kind in KINDS:
        every = [each.value for each in NotificationEvent if each not in ("assigned", "mentioned")]
        a_subscription(team=team, kind=kind, address="https://chat.example/hook", events=every)


def messages() -> dict[str, dict[str, Any]]:
    collect.collect()
    collect.bundle(now=timezone.now())
    return {each.subscription.kind: each.content["body"] for each in Delivery.objects.order_by("pk")}  # type: ignore[union-attr]


def plain(kind: str, body: dict[str, Any]) -> str:
    """What a reader sees, as far as it can be known here: of Slack its blocks."""
    if kind == "slack":
        texts = [each for block in body["blocks"] for each in block.get("elements", [block.get("text")])]
        return "\n".join(re.sub(r"<[^|>]+\|([^>]+)>", r"\1", each["text"]) for each in texts)
    return chat.text_of(body) or ""


def an_event(event: str) -> Finding:
    ann = a_user(username=f"ann-{event}")
    finding = a_finding(title=HOSTILE)
    if event == "comment":
        a_note(finding, "comment", by=ann, text=HOSTILE)
    elif event == "verify":
        gone(finding)
        a_note(finding, "state", was="confirmed", to="to verify")
    elif event == "state":
        review.set_state(finding_id=finding.pk, state="confirmed", by=ann, reason=HOSTILE)
    elif event == "reopened":
        a_note(finding, "reopened", was="fixed", to="new")
    return finding


@pytest.mark.django_db
@pytest.mark.parametrize("event", [each.value for each in NotificationEvent if each not in ("assigned", "mentioned")])
def test_every_event_makes_valid_messages_whatever_things_are_called(event: str) -> None:
    subscribed()
    finding = an_event(event)
    Workload.objects.update(name=NAME)
    System.objects.filter(pk=System.objects.latest("pk").pk).update(short_name="*S* <!here>")
    Platform.objects.update(name=NAME)
    HardwareClass.objects.update(name=NAME)
    made = messages()
    assert set(made) == set(KINDS)
    for kind, body in made.items():
        validate(kind, body)
        text = plain(kind, body)
        assert f"finding {finding.pk}" in text
        assert f"{settings.ADDRESS}/findings/{finding.pk}/" in json.dumps(body)
        sizes = SIZE.findall(text)
        assert len(sizes) == 3, "a size and the two ends of its interval"
        assert "higher is better" in text
        assert "100\u00a0transactions/s → 88.0\u00a0transactions/s" in text.replace(
            " transactions", "\u00a0transactions"
        )


@pytest.mark.django_db
def test_a_step_within_a_release_is_against_no_other() -> None:
    subscribed()
    finding = a_finding()
    finding.baseline = finding.release
    finding.save()
    assert "; MariaDB 10.11.20, oltp_write_only" in plain("slack", messages()["slack"])


@pytest.mark.django_db
def test_the_answer_comes_first_and_then_the_link() -> None:
    subscribed()
    finding = a_finding()
    made = messages()
    said = (
        "Worse: client.throughput −12 % (95 % interval −14 % to −9.0 %), 100 transactions/s → 88.0 transactions/s, "
        "higher is better; MariaDB 10.11.20 against MariaDB 10.11.19, oltp_write_only, 4 threads, small."
    )
    link, event = f"Found: finding {finding.pk}", "Splashboard found 1 change"
    address = f"{settings.ADDRESS}/findings/{finding.pk}/"
    assert plain("slack", made["slack"]).splitlines() == [said, link, event]
    assert made["slack"]["text"].splitlines() == [said, address, f"- {event}"]
    assert made["mattermost"]["text"].replace("\\", "").splitlines() == [said, f"[{link}]({address})", f"- {event}"]
    assert plain("teams", made["teams"]).splitlines() == [said, f"{link} ({address})", f"• {event}"]


@pytest.mark.django_db
def test_without_an_interval_there_is_no_size_but_the_word_inconclusive() -> None:
    subscribed()
    a_finding()
    Change.objects.update(low=None, high=None)
    for kind, body in messages().items():
        assert "client.throughput inconclusive" in plain(kind, body)
        assert SIZE.findall(plain(kind, body)) == []


@pytest.mark.django_db
def test_what_newer_runs_do_not_confirm_is_not_said_to_be_worse_and_a_growth_has_no_bare_sizes() -> None:
    subscribed()
    finding = a_finding()
    gone(finding)
    a_note(finding, "grown", was="−5.0 %", to="−48 %")
    a_note(without_changes(title="a title of −77 %"))
    for kind, body in messages().items():
        text = plain(kind, body)
        assert "Not confirmed by newer runs, formerly worse: client.throughput" in text
        assert "48" not in text
        assert "77" not in text


@pytest.mark.django_db
def test_a_test_is_a_valid_message_that_says_so() -> None:
    subscribed()
    for subscription in Subscription.objects.all():
        (delivery,) = services.send_test(subscription_id=subscription.pk, now=timezone.now())
        validate(subscription.kind, delivery.content["body"])
        assert "This is a test" in plain(subscription.kind, delivery.content["body"])


@pytest.mark.parametrize("letter", ["a", "&", "😀", '"', "\\", "_"])
def test_no_message_is_longer_than_its_product_takes(letter: str) -> None:
    address = "https://splashboard.example/findings/"
    item = chat.ChatItem(letter * 3000, "Found: finding 4", f"{address}4/", (letter * 900,) * 14)
    for times in (1, 2, 60):
        message = chat.ChatMessage("A test.", (item,) * times, address)
        for kind in KINDS:
            validate(kind, getattr(chat, kind)(message))


def test_hostile_words_are_shown_as_they_are() -> None:
    item = chat.ChatItem(HOSTILE, "Found: finding 4", "https://splashboard.example/findings/4/", (HOSTILE,))
    message = chat.ChatMessage("", (item,), "https://splashboard.example/findings/")
    rendered = (
        MarkdownIt("commonmark", {"html": False}).enable("strikethrough").render(chat.mattermost(message)["text"])
    )
    assert re.findall(r"<(a|em|strong|s|code|img)\b[^>]*>", rendered) == ["a"]
    shown = rendered.replace(chat.ZERO_WIDTH, "").replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")
    assert shown.count(HOSTILE) == 2
    # Slack and Teams: strangers' words stand only in text without any formatting.
    marked = [each["text"] for block in chat.slack(message)["blocks"] for each in block.get("elements", ())]
    assert marked[0] == f"<{item.address}|{item.label}>"
    assert [run["text"] for run in inlines(chat.teams(message)) if "selectAction" in run] == [item.label]
    assert all("{{" not in run["text"] for run in inlines(chat.teams(message)))


def inlines(body: dict[str, Any]) -> list[dict[str, Any]]:
    return [run for block in body["attachments"][0]["content"]["body"] for run in block["inlines"]]
