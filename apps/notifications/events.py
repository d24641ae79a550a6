"""Which of what happens to findings is told, and to whom."""

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
    """None: no subscription is told (labels, links, due dates)."""
    if note.what == "state" and note.detail.get("to") == Finding.State.VERIFY:
        return NotificationEvent.VERIFY
    if note.what == "state" and note.by_id is None:
        # What had gone is back, and so is the state that it had.
        return NotificationEvent.REOPENED
    return _EVENTS.get(note.what)


def concerned(note: Note) -> list[tuple[User, NotificationEvent]]:
    """People who are told of it themselves, by mail: never of what they did, nor where they have no address."""
    told: dict[User, NotificationEvent] = {}
    if note.what == "owner" and (name := note.detail.get("to")):
        told |= dict.fromkeys(User.objects.filter(username=name), NotificationEvent.ASSIGNED)
    for person in note.mentions.all():
        told.setdefault(person, NotificationEvent.MENTIONED)
    return [
        (person, event)
        for person, event in told.items()
        if person.is_active and person.email and person.pk != note.by_id
    ]
