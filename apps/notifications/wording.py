"""Content of a delivery: e-mail, generic webhook, chat."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from django.conf import settings
from django.template.loader import render_to_string
from django.urls import reverse

from apps.core.text import counted, visible
from apps.core.units import with_unit
from apps.notifications import chat
from apps.notifications.models import Notice, NotificationEvent, Subscription
from apps.regressions.api import ChangeRow, FindingRow, activity, percent
from apps.regressions.api import finding_queries as queries
from apps.regressions.models import Finding, Note

# Findings in a mail; the list of findings has the rest. A generic webhook gets all.
MOST_SHOWN = 30
LONGEST_SUBJECT = 150
LONGEST_SENTENCE = 500
CHATS: dict[str, Callable[[chat.ChatMessage], dict[str, Any]]] = {
    Subscription.Kind.SLACK: chat.slack,
    Subscription.Kind.TEAMS: chat.teams,
    Subscription.Kind.MATTERMOST: chat.mattermost,
}
TEST = "This is a test of a subscription of Splashboard. No event occurred."


@dataclass(frozen=True)
class FindingNotice:
    """A finding with its events, in order. `size`: its largest change at the time of sending, with interval and values;
    empty: none. `answer`: the same as a sentence."""

    finding: Finding
    notices: tuple[Notice, ...]
    size: str
    answer: str

    @property
    def address(self) -> str:
        return page("web:finding", self.finding.pk)

    @property
    def title(self) -> str:
        return one_line(self.finding.title) or f"Finding {self.finding.pk}"

    @property
    def standing(self) -> str:
        """Its present state."""
        owner = self.finding.owner.username if self.finding.owner else "nobody"
        return f"{self.finding.get_verdict_display()}, {self.finding.state}, owner: {owner}"

    @property
    def sentences(self) -> list[str]:
        found = [sentence(notice.note) for notice in self.notices]
        return [each if len(each) <= LONGEST_SENTENCE else f"{each[:LONGEST_SENTENCE]}…" for each in found]


def sentence(note: Note) -> str:
    by = note.by.username if note.by else ""
    return activity.sentence(what=note.what, by=by, text=note.text.strip(), detail=note.detail)


def page(name: str, *parameters: int) -> str:
    """Absolute address of a page."""
    return f"{settings.ADDRESS}{reverse(name, args=parameters)}"


def one_line(text: str) -> str:
    return visible(" ".join(text.split()))


def by_finding(notices: Sequence[Notice]) -> list[FindingNotice]:
    """By finding, in the order of each one's first event."""
    by_finding: dict[Finding, list[Notice]] = {}
    for notice in notices:
        by_finding.setdefault(notice.note.finding, []).append(notice)
    rows = queries.load_rows(finding.pk for finding in by_finding)
    return [
        FindingNotice(finding, tuple(own), _size(rows[finding.pk]), one_line(answer(rows[finding.pk])))
        for finding, own in by_finding.items()
    ]


def _size(row: FindingRow) -> str:
    """Of the changes that hold; if there are none, of those gone."""
    if row.shown is None:
        return ""
    alike = row.holding or row.changes
    return one_line(row.shown.words) + (f" (the largest of {alike} changes)" if alike > 1 else "")


def answer(row: FindingRow) -> str:
    """Verdict, size with interval, values with unit, direction and place of the largest change. A title would have the
    size without its interval."""
    change = row.shown
    if change is None:
        return (
            f"No change of its own: merged into finding {row.merged_into}."
            if row.merged_into
            else "No change is recorded."
        )
    if change.metric is None:
        return f"{change.verdict.capitalize()}: {row.title}{f' ({change.reason})' if change.reason else ''}."
    verdict = change.verdict.capitalize() if change.holds else f"Not confirmed by newer runs, formerly {change.verdict}"
    before, after = (with_unit(value, change.metric.unit) for value in (change.before, change.after))
    better = {"higher": "higher is better", "lower": "lower is better"}.get(
        change.metric.direction, "no better direction"
    )
    place = [_versions(row, change), change.workload.name, change.load_level]
    place += [row.hardware_class.name] if row.hardware_class else []
    alike = row.holding or row.changes
    more = f" The largest of {counted(alike, 'change')}." if alike > 1 else ""
    return f"{verdict}: {change.metric.name} {_amount(change)}, {before} → {after}, {better}; {', '.join(place)}.{more}"


def _amount(change: ChangeRow) -> str:
    """The relative change with its interval, never without."""
    if change.ratio is None:
        return "without a ratio"
    if change.low is None or change.high is None:
        return "inconclusive (too few repetitions for an interval)"
    if not change.interval:
        return f"{change.size} (95 % interval with one end)"
    return f"{change.size} (95 % interval {percent(change.low)} to {percent(change.high)})"


def _versions(row: FindingRow, change: ChangeRow) -> str:
    if row.release is None:
        return change.system.name
    if row.baseline is None or row.baseline == row.release:
        return row.release.name
    return f"{row.release.name} against {row.baseline.name}"


def _event(note: Note) -> str:
    """Of a growth without its sizes, which have no interval."""
    if note.what != "grown":
        return sentence(note)
    detail = {name: value for name, value in note.detail.items() if name != "from"}
    return activity.sentence(what=note.what, by="", text=note.text.strip(), detail=detail)


def _chat_message(findings: Sequence[FindingNotice]) -> chat.ChatMessage:
    items = (
        chat.ChatItem(
            sentence=each.answer,
            label=f"{_headline(each.notices)}: finding {each.finding.pk}",
            address=each.address,
            events=tuple(one_line(_event(notice.note)) for notice in each.notices),
        )
        for each in findings
    )
    return chat.ChatMessage(opening=TEST, items=tuple(items), address=page("web:findings"))


def content(notices: Sequence[Notice], *, kind: str, team: str) -> dict[str, Any]:
    """Content of a delivery of `kind` (Subscription.Kind) to `team`, empty for a person's own mail; no notices: a test.

    {"subject", "text", "html"} for a mailbox, {"body"} for a webhook.
    """
    findings, team = by_finding(notices), one_line(team)
    if kind == Subscription.Kind.WEBHOOK:
        return {"body": {"test": not findings, "team": team, "findings": [_as_json(each) for each in findings]}}
    if kind in CHATS:
        return {"body": CHATS[kind](_chat_message(findings))}
    subject = _subject(findings)
    values = {
        "subject": subject,
        "findings": findings[:MOST_SHOWN],
        "more": max(len(findings) - MOST_SHOWN, 0),
        "list": page("web:findings"),
        "why": f"You get this as a subscriber of the team {team}" if team else "You get this because it is about you",
        "where": page("web:notifications"),
        "test": TEST,
    }
    return {
        "subject": subject,
        "text": visible(render_to_string("notifications/mail.txt", values)),
        "html": visible(render_to_string("notifications/mail.html", values)),
    }


def _subject(findings: Sequence[FindingNotice]) -> str:
    if not findings:
        return "[Splashboard] Test"
    first = findings[0]
    if len(findings) == 1:
        subject = f"{_headline(first.notices)}: {first.title}"
    else:
        subject = f"{len(findings)} findings: {first.title} and others"
    return f"[Splashboard] {subject}"[:LONGEST_SUBJECT]


def _headline(notices: Sequence[Notice]) -> str:
    """The last event, except for a new finding."""
    events = [notice.event for notice in notices]
    event = NotificationEvent.FOUND if NotificationEvent.FOUND in events else NotificationEvent(events[-1])
    finding = notices[0].note.finding
    if event == NotificationEvent.FOUND:
        return "Missing" if finding.kind == Finding.Kind.MISSING else "Found"
    if event == NotificationEvent.STATE:
        return finding.state.capitalize()
    return {
        NotificationEvent.REOPENED: "Re-opened",
        NotificationEvent.VERIFY: "To verify",
        NotificationEvent.COMMENT: "Comment",
        NotificationEvent.ASSIGNED: "Assigned to you",
        NotificationEvent.MENTIONED: "You were mentioned",
    }[event]


def _as_json(each: FindingNotice) -> dict[str, Any]:
    finding = each.finding
    return {
        "id": finding.pk,
        "address": each.address,
        "title": each.title,
        "kind": finding.kind,
        "verdict": finding.verdict,
        "largest": finding.largest,
        "size": each.size,
        "state": finding.state,
        "platform": finding.platform.slug if finding.platform else None,
        "hardware_class": finding.hardware_class.slug if finding.hardware_class else None,
        "release": finding.release.version if finding.release else None,
        "baseline": finding.baseline.version if finding.baseline else None,
        "family": finding.family,
        "owner": finding.owner.username if finding.owner else None,
        "labels": finding.labels,
        "events": [
            {
                "id": notice.note_id,
                "event": notice.event,
                "at": notice.note.at.isoformat(),
                "by": notice.note.by.username if notice.note.by else None,
                "words": sentence(notice.note),
            }
            for notice in each.notices
        ],
    }
