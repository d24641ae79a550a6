"""The form that plans a campaign: what was typed is kept, what is wrong is said beside its field."""

import re
from typing import Any

from django import forms
from django.db import transaction
from django.http import QueryDict

from apps.accounts.models import User
from apps.catalog import services as catalog
from apps.catalog.models import System, Workload
from apps.core.problems import Invalid
from apps.dispatch import services as dispatch
from apps.dispatch.models import Campaign
from apps.dispatch.services import Size

# Where dispatch's names of fields differ from the form's.
FIELDS = {"load_levels": "threads", "": None}
NEW_WORKLOAD = {"parameters.test": "test", "parameters.tables": "tables", "parameters.table_size": "table_size"}


class Plan(forms.Form):
    name = forms.CharField(required=False)
    systems = forms.ModelMultipleChoiceField(
        System.objects.none(), to_field_name="slug", required=False, widget=forms.CheckboxSelectMultiple
    )
    workloads = forms.ModelMultipleChoiceField(
        Workload.objects.none(), required=False, widget=forms.CheckboxSelectMultiple
    )
    test = forms.ChoiceField(
        choices=[("", "none"), *((test, test) for test in catalog.SYSBENCH_TESTS)],
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
        assert isinstance(workloads, forms.ModelMultipleChoiceField)  # noqa: S101
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
        systems, workloads = len(data.get("systems", ())), len(data.get("workloads", ())) + bool(data.get("test"))
        if not (systems and workloads and data["threads"]) or data["repetitions"] < 1:
            return None
        return dispatch.size_of(
            systems=systems,
            workloads=workloads,
            load_levels=len(data["threads"]),
            repetitions=data["repetitions"],
            warmup=data["warmup"],
            duration=data["duration"],
        )

    def plan(self, *, user: User) -> Campaign | None:
        """None: something is wrong, and now stands beside its field."""
        if not self.is_valid():
            return None
        data = self.cleaned_data
        try:
            # A plan that is refused leaves no new workload or load level behind.
            with transaction.atomic():
                workloads = [*data["workloads"], *self._new_workload()]
                return dispatch.create_campaign(
                    name=data["name"],
                    systems=list(data["systems"]),
                    workloads=workloads,
                    load_levels=[catalog.load_level_for(threads=threads) for threads in data["threads"]],
                    repetitions=data["repetitions"],
                    warmup=data["warmup"],
                    duration=data["duration"],
                    created_by=user,
                )
        except catalog.InvalidParameters as error:
            self.add_error(NEW_WORKLOAD.get(error.field, "test"), error.message)
        except Invalid as refused:
            for problem in refused.errors:
                text = f"{problem.message}: {problem.remedy}" if problem.remedy else problem.message
                self.add_error(FIELDS.get(problem.field, problem.field), text)
        return None

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
