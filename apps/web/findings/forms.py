"""Forms of the actions on a finding: `act` does one and returns what was done, in a sentence."""

from collections.abc import Mapping
from datetime import date, datetime
from typing import Any, ClassVar

from django import forms
from django.core.exceptions import ValidationError
from django.utils import timezone
from django.utils.dateparse import parse_date, parse_datetime

from apps.accounts.models import User
from apps.core.query import whole_number
from apps.dispatch.api import unreachable
from apps.regressions.api import FindingDetail, review
from apps.regressions.api import finding_queries as queries
from apps.web.components.forms import PageForm, Texts

DATE = "write it as 2026-12-31"
DIGITS = "write it in digits"
NO_LABEL = ""  # of what no label of the page belongs to


class DayField(forms.Field):
    default_error_messages = {"required": f"is missing ({DATE})"}

    def to_python(self, value: str | None) -> date | None:
        text = (value or "").strip()
        try:
            found = parse_date(text) if text else None
        except ValueError:
            found = None
        if text and found is None:
            raise ValidationError(f"{text[:40]!r} is not a date ({DATE})")
        return found


class DigitsField(forms.Field):
    """Perhaps after "#", as findings are named."""

    default_error_messages = {"required": f"is missing ({DIGITS})"}

    def to_python(self, value: str | None) -> int | None:
        text = (value or "").strip().removeprefix("#")
        if text and whole_number(text, digits=9) is None:
            raise ValidationError(f"{text[:40]!r} is not a number ({DIGITS})")
        return int(text) if text else None


class OwnerField(forms.Field):
    def to_python(self, value: str | None) -> User | None:
        name = (value or "").strip()
        owner = User.objects.filter(username=name).first() if name.isprintable() and name else None
        if name and owner is None:
            raise ValidationError(f"there is no user {name[:80]!r} (choose one from the list)")
        return owner


class SeenField(forms.Field):
    """When the finding had last changed as the page was rendered."""

    def to_python(self, value: str | None) -> datetime | None:
        text = (value or "").strip()
        try:
            found = parse_datetime(text) if text else None
        except ValueError:
            found = None
        if text and (found is None or timezone.is_naive(found)):
            raise ValidationError(f"{text[:40]!r} is not a time (load the page again)")
        return found


class ActionForm(PageForm):
    """Its controls' ids begin with the action."""

    def act(self, *, finding_id: int, by: User) -> str:
        """Raises Invalid, FindingChanged and NoSuchFinding."""
        raise NotImplementedError

    @classmethod
    def first_values(cls, _found: FindingDetail) -> dict[str, Any]:
        return {}


class GuardedForm(ActionForm):
    """Of an action that is refused if the finding has changed since it was `seen`."""

    seen = SeenField(required=False, label=NO_LABEL)


class AssignForm(GuardedForm):
    owner = OwnerField(required=False)

    @classmethod
    def first_values(cls, found: FindingDetail) -> dict[str, Any]:
        return {"owner": found.row.owner}

    def act(self, *, finding_id: int, by: User) -> str:
        review.assign(finding_id=finding_id, by=by, **self.cleaned_data)
        owner = self.cleaned_data["owner"]
        if owner is None:
            return "Owner removed."
        return "Assigned to you." if owner == by else f"Assigned to {owner.username}."


class StateForm(GuardedForm):
    DONE: ClassVar = {
        "new": "State: new.",
        "not reproducible": "Dismissed as not reproducible.",
        "fixed": "Marked as fixed.",
    }

    state = forms.CharField(required=False, label=NO_LABEL)
    reason = forms.CharField(required=False)

    def act(self, *, finding_id: int, by: User) -> str:
        review.set_state(finding_id=finding_id, by=by, **self.cleaned_data)
        state = self.cleaned_data["state"]
        return self.DONE.get(state, f"State: {state}.")


class AcceptForm(GuardedForm):
    reason = forms.CharField(required=False)
    until = DayField(label="Until the end of")

    def act(self, *, finding_id: int, by: User) -> str:
        review.accept(finding_id=finding_id, by=by, today=timezone.localdate(), **self.cleaned_data)
        return f"Accepted until {self.cleaned_data['until']}. After that day it becomes new again."


class ReopenForm(GuardedForm):
    reason = forms.CharField(required=False)

    def act(self, *, finding_id: int, by: User) -> str:
        review.reopen(finding_id=finding_id, by=by, **self.cleaned_data)
        return "Re-opened."


class DueForm(GuardedForm):
    due_on = DayField(required=False, label="Due on")

    @classmethod
    def first_values(cls, found: FindingDetail) -> dict[str, Any]:
        return {"due_on": found.row.due_on.isoformat() if found.row.due_on else ""}

    def act(self, *, finding_id: int, by: User) -> str:
        review.set_due(finding_id=finding_id, by=by, today=timezone.localdate(), **self.cleaned_data)
        day = self.cleaned_data["due_on"]
        return f"Due on {day}." if day else "Due date removed."


class LabelsForm(GuardedForm):
    labels = forms.CharField(required=False, label="Labels, comma-separated")

    @classmethod
    def first_values(cls, found: FindingDetail) -> dict[str, Any]:
        return {"labels": ", ".join(found.row.labels)}

    def clean_labels(self) -> list[str]:
        return str(self.cleaned_data["labels"]).split(",")

    def act(self, *, finding_id: int, by: User) -> str:
        review.set_labels(finding_id=finding_id, by=by, **self.cleaned_data)
        return "Labels saved."


class CommentForm(ActionForm):
    text = forms.CharField(required=False, label="Comment")

    def act(self, *, finding_id: int, by: User) -> str:
        made = review.comment(finding_id=finding_id, by=by, **self.cleaned_data)
        unknown = [f"There is no user @{name} to notify." for name in review.unknown_mentions(made)]
        return " ".join(["Comment saved.", *unknown])


class LinkForm(ActionForm):
    url = forms.CharField(required=False, label="Address of an issue")
    title = forms.CharField(required=False)

    def act(self, *, finding_id: int, by: User) -> str:
        review.link(finding_id=finding_id, by=by, **self.cleaned_data)
        return "Link saved."


class UnlinkForm(ActionForm):
    link = DigitsField(label=NO_LABEL)

    def act(self, *, finding_id: int, by: User) -> str:
        review.unlink(finding_id=finding_id, by=by, link_id=self.cleaned_data["link"])
        return "Link removed."


class MergeForm(GuardedForm):
    into = DigitsField(label="Finding")

    def clean_into(self) -> int:
        wanted = int(self.cleaned_data["into"])
        if not queries.load_rows([wanted]):
            raise ValidationError(f"there is no finding {wanted} (choose one from the list)")
        return wanted

    def act(self, *, finding_id: int, by: User) -> str:
        values = self.cleaned_data
        into = review.merge(finding_id=finding_id, by=by, seen=values["seen"], into_id=values["into"])
        return f"Merged into finding {into.pk}."


class SplitForm(GuardedForm):
    names: ClassVar = {"changes": "change"}

    change = Texts(required=False, label="Changes")

    def act(self, *, finding_id: int, by: User) -> str:
        ids = [int(text) for text in self.cleaned_data["change"] if whole_number(text) is not None]
        made = review.split(finding_id=finding_id, by=by, seen=self.cleaned_data["seen"], change_ids=ids)
        return f"The changes you chose are now finding {made.pk}."


class RepeatForm(GuardedForm):
    repetitions = DigitsField(required=False, label="Repetitions of each side")

    def act(self, *, finding_id: int, by: User) -> str:
        campaign = review.repeat(finding_id=finding_id, by=by, **self.cleaned_data)
        unreached = unreachable(campaign.systems.all(), now=timezone.now())
        waits = f" No agent is connected to {', '.join(sorted(unreached))}: their jobs wait." if unreached else ""
        return f"Campaign {campaign.pk} measures again; the finding is updated as runs arrive.{waits}"


ACTIONS: Mapping[str, type[ActionForm]] = {
    "assign": AssignForm,
    "state": StateForm,
    "accept": AcceptForm,
    "reopen": ReopenForm,
    "due": DueForm,
    "labels": LabelsForm,
    "comment": CommentForm,
    "link": LinkForm,
    "unlink": UnlinkForm,
    "merge": MergeForm,
    "split": SplitForm,
    "repeat": RepeatForm,
}


def unsent(found: FindingDetail) -> dict[str, ActionForm]:
    """Action -> its form, with first values."""
    return {name: form(initial=form.first_values(found), auto_id=f"{name}-%s") for name, form in ACTIONS.items()}


def sent(action: str, given: Mapping[str, Any]) -> ActionForm:
    return ACTIONS[action](given, auto_id=f"{action}-%s")
