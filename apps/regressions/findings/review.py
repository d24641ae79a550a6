"""Actions of people on findings. Every action leaves a note, so that a finding's history is complete.

`seen`: time of the last note that the person saw (FindingRow.seen). If others, or the system, changed the finding
since, the action is refused with the activity since (FindingChanged); None: no such check. Comments and links do not
conflict and take no `seen`. All raise NoSuchFinding, and Invalid (`finding`) for one that was merged.
"""

import re
from collections.abc import Sequence
from datetime import date, datetime, timedelta

from django.core.exceptions import ValidationError
from django.core.validators import URLValidator
from django.db.models import F

from apps.accounts.models import User
from apps.core.problems import FieldProblem, Invalid
from apps.regressions.findings import reconcile
from apps.regressions.findings.locking import LONGEST_REASON, FindingChanged, NoSuchFinding, changing, note, text_of
from apps.regressions.findings.regroup import merge, split
from apps.regressions.findings.repeat import RepeatPlan, plan_of, repeat
from apps.regressions.findings.states import NEXT, may_accept, may_reopen
from apps.regressions.models import Finding, Link, Note

__all__ = [
    "LONGEST_REASON",
    "FindingChanged",
    "NoSuchFinding",
    "RepeatPlan",
    "accept",
    "assign",
    "comment",
    "link",
    "mentioned",
    "merge",
    "plan_of",
    "reopen",
    "repeat",
    "set_due",
    "set_labels",
    "set_state",
    "split",
    "unknown_mentions",
    "unlink",
]

LONGEST_TEXT = 10_000
LONGEST_LABEL = 60
MOST_LABELS = 20
FURTHEST_DUE = timedelta(days=3652)
State = Finding.State
_MENTION = re.compile(r"(?<![\w@.+-])@([\w.+-]+)")
_is_address = URLValidator(schemes=["http", "https"])


def set_state(*, finding_id: int, by: User, state: str, reason: str = "", seen: datetime | None = None) -> Finding:
    """Raises Invalid (`state`) if the transition is not allowed; `reason` is stored with it."""
    text = text_of("reason", reason, longest=LONGEST_REASON, needed=False)
    with changing(finding_id, seen) as finding:
        if state == finding.state:
            return finding
        if state not in NEXT[finding.state]:
            raise Invalid([FieldProblem("state", f"{state!r} does not follow {finding.state!r}", _instead(finding))])
        _move(finding, by=by, what="state", state=state, text=text)
    return finding


def accept(
    *, finding_id: int, by: User, reason: str, until: date, today: date, seen: datetime | None = None
) -> Finding:
    """Accept until the end of a day, for a reason; afterwards the finding is new again. Raises Invalid (`reason`,
    `until`, `state`)."""
    problems: list[FieldProblem] = []
    text = text_of("reason", reason, longest=LONGEST_REASON, needed=True, problems=problems)
    if until < today:
        problems.append(FieldProblem("until", f"{until} has passed", "choose today or a later day"))
    if problems:
        raise Invalid(problems)
    with changing(finding_id, seen) as finding:
        if not may_accept(finding.state):
            raise Invalid([FieldProblem("state", f"it is {finding.state}: not acceptable", _instead(finding))])
        _move(finding, by=by, what="state", state=State.ACCEPTED, text=text, until=until)
    return finding


def reopen(*, finding_id: int, by: User, reason: str = "", seen: datetime | None = None) -> Finding:
    """Reset a closed or accepted finding to new. Raises Invalid (`state`)."""
    text = text_of("reason", reason, longest=LONGEST_REASON, needed=False)
    with changing(finding_id, seen) as finding:
        if not may_reopen(finding.state):
            raise Invalid([FieldProblem("state", f"it is {finding.state}: not closed", _instead(finding))])
        _move(finding, by=by, what="reopened", state=State.NEW, text=text)
    return finding


def assign(*, finding_id: int, by: User, owner: User | None, seen: datetime | None = None) -> Finding:
    """`owner` None: no owner. Raises Invalid (`owner`) for a user without permission to act on findings."""
    if owner is not None and not (owner.is_active and owner.may_write):
        remedy = "choose an engineer or an administrator"
        raise Invalid([FieldProblem("owner", f"{owner.username} may not work on findings", remedy)])
    with changing(finding_id, seen) as finding:
        was, finding.owner = finding.owner, owner
        if was != owner:
            found = {"from": was.username if was else "", "to": owner.username if owner else ""}
            note(finding, by=by, what="owner", detail=found)
    return finding


def set_due(*, finding_id: int, by: User, due_on: date | None, today: date, seen: datetime | None = None) -> Finding:
    """`due_on` None: no due date. Raises Invalid (`due_on`) for a day in the past or more than ten years ahead, unless
    it is the current one."""
    with changing(finding_id, seen) as finding:
        was = finding.due_on
        if due_on is not None and due_on != was:
            _check_due(due_on, today)
        finding.due_on = due_on
        if was != due_on:
            note(finding, by=by, what="due", detail={"from": str(was or ""), "to": str(due_on or "")})
    return finding


def _check_due(due_on: date, today: date) -> None:
    if due_on < today:
        raise Invalid([FieldProblem("due_on", f"{due_on} has passed", "choose today or a later day")])
    if due_on > today + FURTHEST_DUE:
        remedy = f"choose a day up to {today + FURTHEST_DUE}"
        raise Invalid([FieldProblem("due_on", f"{due_on} is more than ten years away", remedy)])


def set_labels(*, finding_id: int, by: User, labels: Sequence[str], seen: datetime | None = None) -> Finding:
    """Replace all labels, without duplicates. Raises Invalid (`labels`)."""
    wanted = sorted({label.strip() for label in labels} - {""})
    for label in wanted:
        if len(label) > LONGEST_LABEL or "," in label or not label.isprintable():
            remedy = f"use at most {LONGEST_LABEL} characters, no comma"
            raise Invalid([FieldProblem("labels", f"{label[:LONGEST_LABEL]!r} is not a label", remedy)])
    if len(wanted) > MOST_LABELS:
        raise Invalid([FieldProblem("labels", f"{len(wanted)} are too many", f"use at most {MOST_LABELS}")])
    with changing(finding_id, seen) as finding:
        was, finding.labels = finding.labels, wanted
        if was != wanted:
            note(finding, by=by, what="labels", detail={"from": was, "to": wanted})
    return finding


def comment(*, finding_id: int, by: User, text: str) -> Note:
    """`@name` mentions a user; the mentions are stored with the note. Raises Invalid (`text`)."""
    body = text_of("text", text, longest=LONGEST_TEXT, needed=True)
    with changing(finding_id, None) as finding:
        made = note(finding, by=by, what="comment", detail={}, text=body)
        made.mentions.set(mentioned(body))
    return made


def mentioned(text: str) -> list[User]:
    """Active users mentioned in a text; a full stop after a name is not part of it."""
    names = {name for either in _mentions(text) for name in either}
    return list(User.objects.filter(username__in=names, is_active=True).order_by("username"))


def unknown_mentions(note: Note) -> list[str]:
    """Names mentioned in a comment that no user has, sorted."""
    known = set(note.mentions.values_list("username", flat=True))
    return sorted({either[-1] for either in _mentions(note.text) if not known & set(either)} - {""})


def _mentions(text: str) -> list[tuple[str, str]]:
    """Each name as written, and without trailing punctuation that may end the sentence."""
    return [(found, found.rstrip(".-+")) for found in _MENTION.findall(text)]


def link(*, finding_id: int, by: User, url: str, title: str = "") -> Link:
    """Link an issue; the same address again returns the existing link. Raises Invalid (`url`, `title`)."""
    address = url.strip()
    problems: list[FieldProblem] = []
    name = text_of("title", title, longest=200, needed=False, problems=problems)
    try:
        _is_address(address)
        is_sound = len(address) <= 500
    except ValidationError:
        is_sound = False
    if not is_sound:
        remedy = "use one that begins with https:// or http://, of at most 500 characters"
        problems.append(FieldProblem("url", f"{address[:80]!r} is not a web address", remedy))
    if problems:
        raise Invalid(problems)
    with changing(finding_id, None) as finding:
        made, is_new = Link.objects.get_or_create(finding=finding, url=address, defaults={"title": name, "by": by})
        if is_new:
            note(finding, by=by, what="link", detail={"url": address, "title": name})
    return made


def unlink(*, finding_id: int, by: User, link_id: int) -> None:
    """Raises NoSuchFinding."""
    with changing(finding_id, None) as finding:
        found = finding.links.filter(pk=link_id).first()
        if found is None:
            raise NoSuchFinding(f"Finding {finding_id} has no link {link_id}.")
        note(finding, by=by, what="unlink", detail={"url": found.url, "title": found.title})
        found.delete()


def _move(finding: Finding, *, by: User, what: str, state: str, text: str, until: date | None = None) -> None:
    was, finding.state = finding.state, state
    finding.reason, finding.accepted_until = text, until
    # Growth beyond this size was not decided about.
    finding.changes.filter(gone_at=None).update(accepted_ratio=F("ratio") if state in reconcile.DECIDED else None)
    found = {"from": str(was), "to": str(state)}
    note(finding, by=by, what=what, text=text, detail=found | ({"until": str(until)} if until else {}))


def _instead(finding: Finding) -> str:
    ways = list(NEXT[finding.state])
    ways += ["accept it, with a reason and an end date"] if may_accept(finding.state) else []
    ways += ["open it again"] if may_reopen(finding.state) else []
    return f"from {finding.state}: {', or '.join(ways)}"
