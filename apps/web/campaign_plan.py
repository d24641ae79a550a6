"""The form that plans a campaign: what was typed is kept, what is wrong is said beside its field."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from django import forms
from django.db import transaction
from django.http import QueryDict

from apps.accounts.models import User
from apps.catalog import services as catalog
from apps.catalog.models import System, Workload
from apps.core.problems import FieldProblem, Invalid
from apps.dispatch import services as dispatch
from apps.dispatch.models import Campaign
from apps.dispatch.services import Size
from workers.workloads import sysbench

# Where dispatch's names of fields differ from the form's.
FIELDS = {"load_levels": "threads", "": None}
NEW_WORKLOAD = {"parameters.test": "test", "parameters.tables": "tables", "parameters.table_size": "table_size"}


# In the order of the page.
LABELS = {
    "name": "What it is to find out",
    "systems": "Systems",
    "workloads": "Workloads",
    "test": "A new one: test",
    "tables": "Tables",
    "table_size": "Rows of each table",
    "threads": "Threads",
    "repetitions": "Repetitions",
    "warmup": "Warm-up",
    "duration": "Measured",
}


@dataclass(frozen=True)
class Problem:
    field: str
    label: str
    message: str


class Plan(forms.Form):
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
        error_messages={"invalid_choice": "is no test of sysbench known here: choose one of the list"},
    )
    tables = forms.IntegerField(required=False, initial=4)
    table_size = forms.IntegerField(required=False, initial=10_000)
    threads = forms.CharField(initial="1, 4, 8", required=False)
    repetitions = forms.IntegerField(initial=3)
    warmup = forms.FloatField(initial=5)
    duration = forms.FloatField(initial=30)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        systems, workloads = self.fields["systems"], self.fields["workloads"]
        assert isinstance(systems, forms.ModelMultipleChoiceField)  # noqa: S101  for mypy
        assert isinstance(workloads, forms.ModelMultipleChoiceField)  # noqa: S101  for mypy
        offered = System.objects.filter(archived_at=None).select_related("release__platform", "hardware_class")
        systems.queryset = self.offered = offered
        workloads.queryset = Workload.objects.filter(tool="sysbench")
        systems.error_messages["invalid_choice"] = "%(value)s is no system in use: choose from the list"
        workloads.error_messages["invalid_choice"] = "%(value)s is no known workload: choose from the list"
        for name in ("tables", "table_size", "repetitions", "warmup", "duration"):
            self.fields[name].error_messages |= {
                "invalid": "is no number: write one, for example 3",
                "required": "is empty: write a number",
            }

    def clean_threads(self) -> list[int]:
        threads: list[int] = []
        for word in re.split(r"[\s,;]+", str(self.cleaned_data["threads"]).strip()):
            if not word:
                continue
            if not (word.isascii() and word.isdigit() and len(word) < 19 and 1 <= int(word) <= catalog.MAX_THREADS):
                raise forms.ValidationError(
                    f"{word[:40]!r} is no number of threads: write whole numbers from 1 to {catalog.MAX_THREADS:,}, "
                    "for example 1, 4, 8"
                )
            threads.append(int(word))
        return sorted(set(threads))

    def size(self) -> Size | None:
        """None as long as the plan is not whole enough to count."""
        self.is_valid()
        data = self.cleaned_data
        if any(data.get(name) is None for name in ("repetitions", "warmup", "duration", "threads")):
            return None
        workloads = [*data.get("workloads", ()), *([Workload()] if data.get("test") else [])]
        if not (data.get("systems") and workloads and data["threads"]) or data["repetitions"] < 1:
            return None
        return dispatch.size_of(
            systems=len(data["systems"]),
            entries=self._entries(workloads, data["threads"]),
            repetitions=data["repetitions"],
        )

    def _entries(self, workloads: Sequence[Workload], load_levels: Sequence[Any]) -> list[dispatch.Planned]:
        """Fields that could not be read count as right."""
        data = self.cleaned_data
        return dispatch.alike(
            workloads=workloads,
            load_levels=load_levels,
            warmup=data.get("warmup", 0.0),
            duration=data.get("duration", 1.0),
        )

    def plan(self, *, user: User) -> Campaign | None:
        """None: something is wrong, and all of it now stands beside its field."""
        if not self.is_valid():
            self._check_the_rest()
            return None
        data = self.cleaned_data
        try:
            # A plan that is refused leaves no new workload or load level behind.
            with transaction.atomic():
                levels = [catalog.load_level_for(threads=threads) for threads in data["threads"]]
                return dispatch.create_campaign(
                    name=data["name"],
                    systems=list(data["systems"]),
                    entries=self._entries([*data["workloads"], *self._new_workload()], levels),
                    repetitions=data["repetitions"],
                    created_by=user,
                )
        except catalog.InvalidParameters as error:
            self._add_refused_workload(error)
            self._check_the_rest()
        except Invalid as refused:
            self._add(refused.errors)
        return None

    def problems(self) -> list[Problem]:
        """What is wrong, in the order of the page; without a field: the plan as a whole."""
        names = [name for name in LABELS if name in self.errors]
        found = [Problem(name, LABELS[name], str(text)) for name in names for text in self.errors[name]]
        return [Problem("", "", str(text)) for text in self.non_field_errors()] + found

    def _check_the_rest(self) -> None:
        """What is wrong with the fields that could be read, where others could not."""
        data = self.cleaned_data
        read = "test" in data and not {"tables", "table_size"} & self.errors.keys()
        if read:
            try:
                with transaction.atomic():
                    self._new_workload()
                    transaction.set_rollback(True)
            except catalog.InvalidParameters as error:
                self._add_refused_workload(error)
        workloads = [*data.get("workloads", ()), *([Workload()] if data.get("test", "unreadable") else [])]
        # What stands in for a field with an error says nothing: such a field keeps its own.
        known = dispatch.problems_of(
            name=data.get("name", ""),
            systems=list(data.get("systems", ())),
            entries=self._entries(workloads, data.get("threads", ())),
            repetitions=data.get("repetitions", 1),
        )
        wrong = set(self.errors)
        known = dispatch.plainly(known)
        self._add([problem for problem in known if FIELDS.get(problem.field, problem.field) not in wrong])

    def _add_refused_workload(self, error: catalog.InvalidParameters) -> None:
        field = NEW_WORKLOAD.get(error.field, "test")
        if error.message not in self.errors.get(field, ()):
            self.add_error(field, error.message)

    def _add(self, problems: Iterable[FieldProblem]) -> None:
        for problem in dispatch.plainly(problems):
            text = f"{problem.message}: {problem.remedy}" if problem.remedy else problem.message
            self.add_error(FIELDS.get(problem.field, problem.field), text)

    def _new_workload(self) -> list[Workload]:
        data = self.cleaned_data
        if not data["test"]:
            return []
        parameters = {name: data[name] for name in ("test", "tables", "table_size")}
        return [catalog.workload_for(tool="sysbench", parameters=parameters)]


def prefilled(query: QueryDict) -> dict[str, Any]:
    """The form's first values from an address, so that another page can propose a plan."""
    values: dict[str, Any] = {
        key: query[key] for key in ("name", "threads", "repetitions", "warmup", "duration") if key in query
    }
    if query.getlist("system"):
        values["systems"] = query.getlist("system")
    if query.getlist("workload"):
        values["workloads"] = [text for text in query.getlist("workload") if text.isascii() and text.isdigit()]
    return values
