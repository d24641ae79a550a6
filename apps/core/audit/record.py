"""The one way into the audit log. Services that change something call it, in the transaction of the change."""

from apps.core.audit.actions import Action
from apps.core.audit.actors import current_actor
from apps.core.audit.models import AuditEntry

LONGEST_WHO, LONGEST_CREDENTIAL, LONGEST_SUBJECT, LONGEST_STATE = 150, 100, 200, 300


def record(action: Action, subject: str, *, before: object = "", after: object = "") -> None:
    """Add one entry by whom the present request names. `before` and `after`: a few words, never a secret."""
    by = current_actor()
    AuditEntry.objects.create(
        kind=by.kind,
        who=_cut(by.who, LONGEST_WHO),
        credential=_cut(by.credential, LONGEST_CREDENTIAL),
        address=by.address[:45],
        action=action,
        subject=_cut(subject, LONGEST_SUBJECT),
        before=_cut(before, LONGEST_STATE),
        after=_cut(after, LONGEST_STATE),
    )


def _cut(value: object, most: int) -> str:
    """One line of at most `most` characters."""
    text = "" if value is None else " ".join(str(value).replace("\0", "").split())
    return text if len(text) <= most else f"{text[: most - 1]}…"
