"""The form that plans a campaign; input is kept, and errors are shown beside their fields."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from django import forms
from django.core.exceptions import NON_FIELD_ERRORS
from django.db import transaction
from django.http import QueryDict

from apps.accounts.models import User
from apps.catalog.api import services as catalog
from apps.catalog.models import LoadLevel, System, Workload
from apps.core.problems import FieldProblem, Invalid
from apps.core.query import whole_number
from apps.core.text import and_list
from apps.dispatch import api as dispatch
from apps.dispatch.api import LEAST_GAIN, PlanSize
from apps.dispatch.models import Campaign
from apps.regressions.api import LEAST_DIFFERENCE as LEAST
from apps.regressions.api import MOST_DIFFERENCE as MOST
from apps.regressions.api import POWERS, SessionPlan, session_plan
from apps.web.components.forms import FormProblem, PageForm
from workers.protocol.workloads import WORKLOADS, sysbench
from workers.protocol.workloads.kinds import KINDS, kind_of

# dispatch's field names -> the form's, where they differ.
FIELDS = {"load_levels": "threads", "workload": "workloads", "": None}
NEW_WORKLOAD = {"parameters.test": "test", "parameters.tables": "tables", "parameters.table_size": "table_size"}


# In page order.
LABELS = {
    "name": "Question",
    "systems": "Systems",
    "workloads": "Workloads",
    "test": "New workload: test",
    "tables": "Tables",
    "table_size": "Rows per table",
    "threads": "Threads",
    "repetitions": "Repetitions",
    "sessions": "Sessions",
    "warmup": "Warm-up",
    "duration": "Measured",
    "climb": "Ramp until saturation",
    "difference": "Smallest difference",
    "sure": "Found in",
    "until": "Stop early",
}
UNTIL = (
    ("", "never"),
    ("verdict", "at a verdict"),
    ("0.01", "at ±1\u00a0%"),
    ("0.02", "at ±2\u00a0%"),
    ("0.05", "at ±5\u00a0%"),
)
SURE = tuple((f"{power:g}", f"{10 * power:.0f} of 10 cases") for power in reversed(POWERS))
# Fields that a chosen workload may override, named with its key appended; empty: as for all others.
OWN = ("threads", "warmup", "duration")
NO_NUMBER = {"invalid": "is not a number: write one, for example 3", "required": "is empty: write a number"}


@dataclass(frozen=True)
class OwnField:
    """An override for one workload: `value` as typed."""

    name: str
    label: str
    value: str
    errors: Sequence[str]


@dataclass(frozen=True)
class Offer:
    workload: Workload
    is_chosen: bool
    own: Sequence[OwnField]


class PlanForm(PageForm):
    name = forms.CharField(required=False)
    systems = forms.ModelMultipleChoiceField(
        System.objects.none(), to_field_name="slug", required=False, widget=forms.CheckboxSelectMultiple
    )
    workloads = forms.ModelMultipleChoiceField(
        Workload.objects.none(), required=False, widget=forms.CheckboxSelectMultiple
    )
    test = forms.ChoiceField(
        choices=[("", "none"), *((test, test) for test in sysbench.TESTS)],
        required=False,
        error_messages={"invalid_choice": "is not a known sysbench test: choose one from the list"},
    )
    tables = forms.IntegerField(required=False, initial=4)
    table_size = forms.IntegerField(required=False, initial=10_000)
    threads = forms.CharField(initial="1, 4, 8", required=False)
    repetitions = forms.IntegerField(initial=3)
    sessions = forms.IntegerField(initial=1, required=False)
    difference = forms.FloatField(initial=5, required=False)
    sure = forms.ChoiceField(choices=SURE, required=False)
    until = forms.ChoiceField(choices=UNTIL, required=False)
    warmup = forms.FloatField(initial=5)
    duration = forms.FloatField(initial=30)
    climb = forms.BooleanField(required=False)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        systems, workloads = self.fields["systems"], self.fields["workloads"]
        assert isinstance(systems, forms.ModelMultipleChoiceField)  # noqa: S101  for mypy
        assert isinstance(workloads, forms.ModelMultipleChoiceField)  # noqa: S101  for mypy
        offered = System.objects.filter(archived_at=None).select_related("release__platform", "hardware_class")
        systems.queryset = self.offered = offered
        workloads.queryset = Workload.objects.filter(tool__in=WORKLOADS)
        for key in self._chosen_keys() if self.is_bound else ():
            self.fields[f"threads_{key}"] = forms.CharField(required=False)
            for name in ("warmup", "duration"):
                self.fields[f"{name}_{key}"] = forms.FloatField(required=False, error_messages=NO_NUMBER)
        systems.error_messages["invalid_choice"] = "%(value)s is not a system in use: choose from the list"
        workloads.error_messages["invalid_choice"] = "%(value)s is not a known workload: choose from the list"
        for name in ("tables", "table_size", "repetitions", "sessions", "difference", "warmup", "duration"):
            self.fields[name].error_messages |= NO_NUMBER

    def clean_sessions(self) -> int:
        given: int | None = self.cleaned_data["sessions"]
        return 1 if given is None else given

    def clean_difference(self) -> float:
        """As a share."""
        given: float | None = self.cleaned_data["difference"]
        share = (5 if given is None else given) / 100
        if not LEAST <= share <= MOST:
            raise forms.ValidationError(f"is out of range: use {100 * LEAST:g} to {100 * MOST:g} %")
        return share

    def clean(self) -> None:
        for name in [name for name in self.cleaned_data if name.partition("_")[0] == "threads"]:
            try:
                self.cleaned_data[name] = _threads(str(self.cleaned_data[name]))
            except forms.ValidationError as error:
                self.add_error(name, error)

    def offers(self) -> list[tuple[str, list[Offer]]]:
        """The available workloads by kind of load, each with its overrides as typed."""
        kinds: dict[str, list[Offer]] = {kind: [] for kind in KINDS}
        for offer in self._offers():
            kinds[kind_of(offer.workload.tool, offer.workload.parameters)].append(offer)
        return [(KINDS[kind], offers) for kind, offers in kinds.items() if offers]

    def _offers(self) -> list[Offer]:
        chosen = {str(key) for key in self["workloads"].value() or ()}
        workloads = self.fields["workloads"]
        assert isinstance(workloads, forms.ModelMultipleChoiceField)  # noqa: S101  for mypy
        return [
            Offer(workload, str(workload.pk) in chosen, [self._own(workload, name) for name in _asked(workload)])
            for workload in workloads.queryset or ()
        ]

    def _own(self, workload: Workload, name: str) -> OwnField:
        field = f"{name}_{workload.pk}"
        typed = str(self.data.get(field, "")) if self.is_bound else ""
        return OwnField(field, LABELS[name], typed, [*self.errors.get(field, ())] if self.is_bound else [])

    def _chosen_keys(self) -> list[str]:
        chosen = self["workloads"].value() or ()
        return [str(key) for key in chosen if str(key).isascii() and str(key).isdecimal()]

    def size(self) -> PlanSize | None:
        """None while the plan is too incomplete to count."""
        entries = self.counted_entries()
        data = self.cleaned_data
        if not entries:
            return None
        systems, workloads = list(data["systems"]), [entry.workload.pk for entry in entries if entry.workload]
        durations = dispatch.measured_durations(systems, [pk for pk in workloads if pk])
        counts = {"repetitions": data["repetitions"], "sessions": data["sessions"]}
        return dispatch.size_of(systems=systems, entries=entries, durations=durations, **counts)

    def session_plan(self) -> SessionPlan | None:
        """None while the plan is too incomplete, or compares nothing."""
        entries = self.counted_entries()
        data = self.cleaned_data
        if not entries or data["climb"]:
            return None
        return session_plan(
            list(data["systems"]),
            entries,
            difference=data["difference"],
            power=float(data["sure"] or SURE[0][0]),
            typed=(data["sessions"], data["repetitions"]),
        )

    def counted_entries(self) -> list[dispatch.PlannedWorkload]:
        """Entries with numbers of threads instead of load levels; none while the plan is too incomplete to count."""
        self.is_valid()
        data = self.cleaned_data
        workloads = [*data.get("workloads", ()), *([Workload()] if data.get("test") else [])]
        entries = self._entries(workloads)
        if self.errors or not (data["systems"] and workloads) or min(data["repetitions"], data["sessions"]) < 1:
            return []
        return entries if all(entry.load_levels for entry in entries) else []

    def _entries(self, workloads: Sequence[Workload]) -> list[dispatch.PlannedWorkload]:
        """Entries with numbers of threads instead of load levels. Unreadable fields count as valid."""
        data = self.cleaned_data
        ramps = bool(data.get("climb"))

        def stated(workload: Workload, name: str, default: Any) -> Any:
            own = data.get(f"{name}_{workload.pk}")
            return data.get(name, default) if own in (None, []) else own

        return [
            dispatch.PlannedWorkload(
                workload=workload,
                load_levels=[1] if dispatch.loads_itself(workload) else stated(workload, "threads", [1]),
                warmup=stated(workload, "warmup", 0.0),
                duration=stated(workload, "duration", 1.0) if "duration" in _asked(workload) else dispatch.UNTIMED,
                ends_when_refused=ramps and not dispatch.loads_itself(workload),
                least_gain=LEAST_GAIN if ramps and not dispatch.loads_itself(workload) else None,
            )
            for workload in workloads
        ] or dispatch.alike(
            workloads=[],
            load_levels=data.get("threads", [1]),
            warmup=data.get("warmup", 0.0),
            duration=data.get("duration", 1.0),
        )

    def plan(self, *, user: User, now: datetime) -> Campaign | None:
        """None if the plan is invalid, or no agent reaches one of its systems `now`; every problem is then attached to
        its field."""
        if not self.is_valid():
            self._check_the_rest()
            return None
        data = self.cleaned_data
        try:
            # A refused plan must leave no new workload or load level behind.
            with transaction.atomic():
                entries = self._entries([*data["workloads"], *self._new_workload()])
                made = dispatch.create_campaign(
                    name=data["name"],
                    systems=list(data["systems"]),
                    entries=[replace(entry, load_levels=_levels(entry.load_levels)) for entry in entries],
                    repetitions=data["repetitions"],
                    sessions=data["sessions"],
                    created_by=user,
                    until=data["until"],
                )
                _check_reach(data["systems"], now)
                return made
        except catalog.InvalidField as error:
            self._add_refused_workload(error)
            self._check_the_rest()
        except Invalid as refused:
            self._add(refused.errors, entries)
        return None

    def problems(self) -> list[FormProblem]:
        """All problems in page order; without a field: of the plan as a whole."""
        names = sorted(self.errors.keys() - {NON_FIELD_ERRORS}, key=_place)
        found = [FormProblem(name, _label(name), str(text)) for name in names for text in self.errors[name]]
        return [FormProblem("", "", str(text)) for text in self.non_field_errors()] + found

    def _check_the_rest(self) -> None:
        """Check the readable fields although others are unreadable."""
        data = self.cleaned_data
        read = "test" in data and not {"tables", "table_size"} & self.errors.keys()
        if read:
            try:
                with transaction.atomic():
                    self._new_workload()
                    transaction.set_rollback(True)
            except catalog.InvalidField as error:
                self._add_refused_workload(error)
        workloads = [*data.get("workloads", ()), *([Workload()] if data.get("test", "unreadable") else [])]
        entries = self._entries(workloads)
        # Placeholders of fields with an error are not checked: such a field keeps its own error.
        known = dispatch.problems_of(
            name=data.get("name", ""),
            systems=list(data.get("systems", ())),
            entries=entries,
            repetitions=data.get("repetitions", 1),
            sessions=data.get("sessions", 1),
            until=data.get("until", ""),
        )
        wrong = set(self.errors)
        self._add([problem for problem in known if self._field(problem.field, entries) not in wrong], entries)

    def _field(self, path: str, entries: Sequence[dispatch.PlannedWorkload]) -> str | None:
        """The form's name for a field of the plan; the workload's own field if it was filled in."""
        place = re.match(r"entries\.(\d+)\.", path)
        shared = path[place.end() :] if place else path
        name = FIELDS.get(shared, shared)
        workload = entries[int(place[1])].workload if place else None
        own = f"{name}_{workload.pk}" if workload else ""
        return own if self.cleaned_data.get(own) not in (None, []) else name

    def _add_refused_workload(self, error: catalog.InvalidField) -> None:
        field = NEW_WORKLOAD.get(error.field, "test")
        if error.message not in self.errors.get(field, ()):
            self.add_error(field, error.message)

    def _add(self, problems: Iterable[FieldProblem], entries: Sequence[dispatch.PlannedWorkload]) -> None:
        for problem in problems:
            text = f"{problem.message}: {problem.remedy}" if problem.remedy else problem.message
            field = self._field(problem.field, entries)
            if field is None or text not in self.errors.get(field, ()):
                self.add_error(field, text)

    def _new_workload(self) -> list[Workload]:
        data = self.cleaned_data
        if not data["test"]:
            return []
        parameters = {name: data[name] for name in ("test", "tables", "table_size")}
        return [catalog.workload_for(tool="sysbench", parameters=parameters)]


def _check_reach(systems: Iterable[System], now: datetime) -> None:
    """Raises Invalid: what is planned here starts at once. Files and the API may name systems of agents to come."""
    chosen = list(systems)
    slugs = dispatch.unreachable(chosen, now=now)
    unreached = [system for system in chosen if system.slug in slugs]
    refused = dispatch.refusals(unreached, now=now)
    problems = [FieldProblem("systems", why) for why in refused.values()]
    if names := [system.short_name for system in unreached if system.slug not in refused]:
        remedy = "connect one (docs/howto/agent.md), or plan it as a file, whose jobs wait for it"
        problems.append(FieldProblem("systems", f"no agent is connected to {and_list(names)}", remedy))
    if problems:
        raise Invalid(problems)


def _threads(text: str) -> list[int]:
    threads: list[int] = []
    for word in re.split(r"[\s,;]+", text.strip()):
        if not word:
            continue
        if not (whole_number(word) is not None and 1 <= int(word) <= catalog.MAX_THREADS):
            raise forms.ValidationError(
                f"{word[:40]!r} is not a number of threads: write whole numbers from 1 to {catalog.MAX_THREADS:,}, "
                "for example 1, 4, 8"
            )
        threads.append(int(word))
    return sorted(set(threads))


def _levels(threads: Sequence[int]) -> list[LoadLevel]:
    return [catalog.load_level_for(threads=number) for number in threads]


def _asked(workload: Workload) -> tuple[str, ...]:
    """What can be chosen for the workload alone."""
    spec = WORKLOADS.get(workload.tool)
    without = {"threads"} if dispatch.loads_itself(workload) else set()
    without |= set() if spec is None or spec.is_timed else {"warmup", "duration"}
    return tuple(name for name in OWN if name not in without)


def _label(name: str) -> str:
    shared, _, key = name.partition("_")
    return LABELS[name] if name in LABELS else f"{LABELS[shared]} of workload {key}"


def _place(name: str) -> tuple[int, str]:
    """Position on the page; a workload's own fields come with the workloads."""
    names = list(LABELS)
    return (names.index(name), "") if name in LABELS else (names.index("workloads"), name)


def prefilled(query: QueryDict) -> dict[str, Any]:
    """Initial values from the query string, so that other pages can link to a proposed plan."""
    values: dict[str, Any] = {
        key: query[key]
        for key in ("name", "threads", "repetitions", "sessions", "difference", "warmup", "duration")
        if key in query
    }
    if query.getlist("system"):
        values["systems"] = query.getlist("system")
    if query.getlist("workload"):
        values["workloads"] = [text for text in query.getlist("workload") if text.isascii() and text.isdigit()]
    return values
