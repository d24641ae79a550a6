"""Events of findings that are sent, and their recipients."""

from apps.accounts.models import User
from apps.notifications.models import NotificationEvent
from apps.regressions.models import Finding, Note

_EVENTS = {
    **dict.fromkeys(("found", "back", "changed", "grown"), NotificationEvent.FOUND),
    **dict.fromkeys(("state", "merged", "split"), NotificationEvent.STATE),
    "reopened": NotificationEvent.REOPENED,
    "comment": NotificationEvent.COMMENT,
}


def event_of(note: Note) -> NotificationEvent | None:
    """None: not sent to subscriptions (labels, links, due dates)."""
    if note.what == "state" and note.detail.get("to") == Finding.State.VERIFY:
        return NotificationEvent.VERIFY
    if note.what == "state" and note.by_id is None:
        # Set without a person: the change has reappeared, and the finding's earlier state is restored.
        return NotificationEvent.REOPENED
    return _EVENTS.get(note.what)


def concerned(note: Note) -> list[tuple[User, NotificationEvent]]:
    """People notified by mail: never of their own actions, nor without an address."""
    found: dict[User, NotificationEvent] = {}
    if note.what == "owner" and (name := note.detail.get("to")):
        found |= dict.fromkeys(User.objects.filter(username=name), NotificationEvent.ASSIGNED)
    for person in note.mentions.all():
        found.setdefault(person, NotificationEvent.MENTIONED)
    return [
        (person, event)
        for person, event in found.items()
        if person.is_active and person.email and person.pk != note.by_id
    ]
