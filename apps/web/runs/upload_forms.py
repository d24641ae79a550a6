"""Forms for finished runs from their tool's output, and for files attached to a run."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django import forms
from django.db import transaction
from django.utils import timezone

from apps.catalog.api import services as catalog
from apps.catalog.models import System, Workload
from apps.core import limits, yaml_text
from apps.core.problems import Invalid
from apps.core.query import whole_number
from apps.runs.api import QuotaExceeded, Refused, submit
from apps.runs.models import Run
from apps.runs.pure import ATTACHED, SUBMITTED, Submitted, SubmittedOutput
from apps.web.components.forms import PageForm

# Field names in errors -> the form's, where they differ.
FIELDS = {
    "output": "file",
    "load_level.threads": "threads",
    "load_level.rate": "rate",
    "run": "file",
    "outcome": "reason",
}


@dataclass(frozen=True)
class Uploaded:
    """`created` False: the same run was uploaded before."""

    run: Run
    created: bool


class Upload(PageForm):
    format = forms.ChoiceField(
        choices=[("", "recognised by its content"), *((one.name, one.title) for one in SUBMITTED.values())],
        required=False,
    )
    file = forms.FileField(
        error_messages={
            "required": "is missing: choose the tool's output",
            "empty": "is empty: choose the tool's output",
        }
    )
    series = forms.FileField(
        label="Its series", required=False, error_messages={"empty": "is empty: choose another, or none"}
    )
    mapping = forms.FileField(
        label="Its mapping", required=False, error_messages={"empty": "is empty: choose another, or none"}
    )
    system = forms.ModelChoiceField(
        System.objects.none(),
        to_field_name="slug",
        error_messages={
            "required": "is not chosen: choose the system that was measured",
            "invalid_choice": "is not a system in use: choose from the list",
        },
    )
    workload = forms.ModelChoiceField(
        Workload.objects.none(),
        required=False,
        error_messages={"invalid_choice": "is not a known workload: choose from the list"},
    )
    parameters = forms.CharField(label="A new workload", required=False, max_length=2000)
    threads = forms.IntegerField(required=False, min_value=1, max_value=catalog.MAX_THREADS)
    rate = forms.FloatField(required=False, min_value=0.001, max_value=1e9)
    warmup = forms.FloatField(label="Warm-up", required=False, min_value=0, max_value=30 * 24 * 3600)
    started_at = forms.DateTimeField(
        label="Began",
        error_messages={
            "required": "is empty: enter when the load began",
            "invalid": "is not a time: write it as 2026-01-31 12:00:00",
        },
    )
    repetition = forms.IntegerField(min_value=1, max_value=100_000, initial=1)
    server_version = forms.CharField(required=False, max_length=120)
    tags = forms.CharField(required=False, max_length=1000)
    reason = forms.CharField(label="Why it failed", required=False, max_length=2000)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        system, workload = self.fields["system"], self.fields["workload"]
        assert isinstance(system, forms.ModelChoiceField)  # noqa: S101  for mypy
        assert isinstance(workload, forms.ModelChoiceField)  # noqa: S101  for mypy
        system.queryset = System.objects.filter(archived_at=None).select_related("release__platform", "hardware_class")
        tools = {one.tool for one in SUBMITTED.values()}
        workload.queryset = Workload.objects.filter(tool__in=tools).order_by("tool", "name")

    def clean_file(self) -> bytes:
        return _content(self.cleaned_data["file"], limits.ARTIFACT)

    def clean_series(self) -> bytes | None:
        file = self.cleaned_data["series"]
        return _content(file, limits.ARTIFACT) if file else None

    def clean_mapping(self) -> Any:
        file = self.cleaned_data["mapping"]
        try:
            return yaml_text.load_with_lines(_content(file, limits.MAPPING), aliases=False)[0] if file else None
        except yaml_text.NotYaml as error:
            raise forms.ValidationError(f"line {error.line}: {error}") from error

    def clean_started_at(self) -> datetime:
        started_at: datetime = self.cleaned_data["started_at"]
        if problem := submit.why_not_started(started_at, now=timezone.now()):
            raise forms.ValidationError(problem)
        return started_at

    def clean_tags(self) -> list[str]:
        return sorted({word.strip() for word in str(self.cleaned_data["tags"]).split(",")} - {""})

    def clean_parameters(self) -> dict[str, Any]:
        return dict(_parameters(str(self.cleaned_data["parameters"])))

    def clean(self) -> dict[str, Any]:
        data = self.cleaned_data
        chosen = SUBMITTED.get(data.get("format", ""))
        if {"workload", "parameters"} <= data.keys() and bool(data["workload"]) == bool(data["parameters"]):
            both = data["workload"] is not None
            if not both and chosen is not None and chosen.states_work:
                return data
            self.add_error(
                "parameters" if both else "workload",
                "describes another workload: choose one, or describe a new one"
                if both
                else "is not chosen: choose one, or describe a new one below",
            )
        return data

    def submit(self) -> Uploaded | None:
        """None if the upload is invalid; every problem is then attached to its field."""
        if not self.is_valid():
            return None
        try:
            # A refused upload must leave no new workload or load level behind.
            with transaction.atomic():
                return self._submit()
        except Refused as error:
            self._add(error.field, error.message)
        except QuotaExceeded as full:
            self._add("output", str(full))
        except catalog.InvalidField as error:
            self._add(error.field if error.field in self.fields else "parameters", f"{error.field}: {error.message}")
        except Invalid as refused:
            for problem in refused.errors:
                self._add(problem.field, f"{problem.message}: {problem.remedy}" if problem.remedy else problem.message)
        return None

    def _submit(self) -> Uploaded:
        data = self.cleaned_data
        chosen = submit.format_of(data["format"] or None, output=data["file"])
        chosen = submit.mapped(chosen, data["mapping"], started_at=data["started_at"])
        submitted = submit.read(chosen=chosen, output=data["file"])
        outcome, reason = submit.outcome_of(
            submitted, chosen=chosen, outcome="failed" if data["reason"] else "succeeded", reason=data["reason"]
        )
        threads, rate = submit.load_of(submitted, threads=data["threads"], rate=data["rate"])
        what = {
            "system": data["system"],
            "workload": self._workload(chosen, submitted),
            "load_level": catalog.load_level_for(threads=threads, rate=rate),
            "started_at": data["started_at"],
            "repetition": submitted.repetition or data["repetition"],
            "output": data["file"],
        }
        uid = submit.uid_of(**what)
        held = submit.submitted_before(uid)
        if held is not None:
            return Uploaded(held, created=False)
        run = submit.submit(
            **what,
            chosen=chosen,
            series=data["series"],
            warmup=data["warmup"],
            tags=data["tags"],
            server_version=data["server_version"],
            outcome=outcome,
            reason=reason,
            uid=uid,
        )
        return Uploaded(run, created=True)

    def _workload(self, chosen: Submitted, submitted: SubmittedOutput) -> Workload:
        known: Workload | None = self.cleaned_data["workload"]
        parameters = self.cleaned_data["parameters"]
        return known or submit.workload_of(submitted, chosen=chosen, parameters=parameters)

    def _add(self, field: str, message: str) -> None:
        if field.startswith("mapping."):
            field, message = "mapping", f"{field}: {message}"
        name = FIELDS.get(field, "parameters" if field.startswith("workload.") else field)
        self.add_error(name if name in self.fields else None, message)


class Attach(PageForm):
    format = forms.ChoiceField(
        choices=[("", "choose"), *((one.name, one.title) for one in ATTACHED.values())],
        error_messages={"required": "is not chosen: choose the file's format; it is never guessed"},
    )
    file = forms.FileField(error_messages={"required": "is missing: choose one", "empty": "is empty: choose another"})

    def clean_file(self) -> bytes:
        return _content(self.cleaned_data["file"], limits.ATTACHED)

    def attach(self, run: Run) -> str | None:
        """Name of the stored artifact. None if invalid; the problem is then attached to its field."""
        if not self.is_valid():
            return None
        data = self.cleaned_data
        try:
            artifact, _ = submit.attach(run=run, chosen=ATTACHED[data["format"]], content=data["file"])
        except Refused as error:
            self.add_error("file", error.message)
            return None
        except QuotaExceeded as full:
            self.add_error("file", str(full))
            return None
        return artifact.name


def made_by() -> list[tuple[str, str]]:
    """Title of each format and where its file comes from."""
    return [(one.title, one.made_by) for one in SUBMITTED.values()]


def attached_made_by() -> list[tuple[str, str]]:
    return [(one.title, one.made_by) for one in ATTACHED.values()]


def first_values(format_name: str) -> dict[str, Any]:
    return {"repetition": 1, "format": format_name if format_name in SUBMITTED else ""}


def _content(file: Any, most: int) -> bytes:
    if (file.size or 0) > most:
        raise forms.ValidationError(f"has {file.size:,} bytes; it may have at most {most:,}")
    content: bytes = file.read()
    return content


def _parameters(text: str) -> Iterable[tuple[str, Any]]:
    """Parses `warehouses=100, isolation=rc`; integers, decimals, true and false are converted, the rest is text."""
    for word in filter(None, (part.strip() for part in text.replace("\n", ",").split(","))):
        name, sign, value = (part.strip() for part in word.partition("="))
        if not (name and sign and value):
            raise forms.ValidationError(f"{word[:40]!r} is not a parameter: write name=value, such as warehouses=100")
        yield name, _value(value)


def _value(text: str) -> str | int | float | bool:
    if text in ("true", "false"):
        return text == "true"
    if whole_number(text, digits=17) is not None:
        return int(text)
    whole, dot, rest = text.partition(".")
    if dot and text.isascii() and whole.isdecimal() and rest.isdecimal() and len(text) < 18:
        return float(text)
    return text
