"""Description of a finished run by a person: the JSON `description`, or the same as plain form fields."""

from datetime import datetime
from typing import Any

from django.core.files.uploadedfile import UploadedFile
from django.http import QueryDict
from django.utils import timezone
from drf_spectacular.extensions import OpenApiSerializerFieldExtension
from rest_framework import serializers

from apps.catalog.api import services as catalog
from apps.core import limits, yaml_text
from apps.core.problems import NAMELESS
from apps.rest.catalog.systems import SystemDescription
from apps.rest.framework.bodies import InvalidJson, decode_json
from apps.rest.framework.problems import invalid
from apps.rest.framework.strict import ChoiceField, FiniteField, NameField, ScalarField, SlugField, Strict
from apps.runs.api import why_not_started
from apps.runs.pure import SUBMITTED

LONGEST_WARMUP = 30 * 24 * 3600.0  # s
# Form field -> place in the description.
PLAIN = (
    "format",
    "system",
    "workload",
    "started_at",
    "warmup",
    "repetition",
    "session",
    "server_version",
    "uid",
    "outcome",
    "reason",
)
LOAD = ("threads", "rate")
FORM = ("output", "series", "samples", "description", "mapping", *PLAIN, *LOAD, "tag")


class WorkloadDescription(Strict):
    """A load tool with its parameters, without those of the load level (threads, rate) or the plan (time)."""

    tool = serializers.CharField(
        max_length=40, required=False, default="", help_text="left out: the tool that prints the format"
    )
    parameters = serializers.DictField(
        child=ScalarField(), help_text='for example {"test": "oltp_read_write", "tables": 4, "table_size": 100000}'
    )
    name = NameField(max_length=120, required=False, default="", allow_blank=True)


class LoadLevelDescription(Strict):
    threads = serializers.IntegerField(
        required=False, min_value=1, max_value=catalog.MAX_THREADS, help_text="left out: as the output says"
    )
    rate = FiniteField(
        required=False, allow_null=True, min_value=0.001, max_value=1e9, help_text="1/s; left out: as the output says"
    )


class SystemReference(serializers.Field[Any, Any, Any, Any]):
    """The slug of an existing system, or a system to register."""

    default_error_messages = {"neither": "must be a system's slug (a text) or an object that describes one"}

    def to_internal_value(self, data: Any) -> Any:
        if isinstance(data, str):
            return SlugField(max_length=80).run_validation(data)
        if not isinstance(data, dict):
            self.fail("neither")
        return SystemDescription().run_validation(data)


class WorkloadReference(serializers.Field[Any, Any, Any, Any]):
    """The id of an existing workload, or a workload with its parameters."""

    default_error_messages = {"neither": "must be a workload's id (a whole number) or an object with its parameters"}

    def to_internal_value(self, data: Any) -> Any:
        if isinstance(data, dict):
            return WorkloadDescription().run_validation(data)
        if isinstance(data, bool) or not isinstance(data, int | str):
            self.fail("neither")
        words = {"invalid": self.error_messages["neither"]}
        return serializers.IntegerField(min_value=1, max_value=2**63 - 1, error_messages=words).run_validation(data)


class SystemReferenceSchema(OpenApiSerializerFieldExtension):  # type: ignore[no-untyped-call]  # untyped
    target_class = SystemReference

    def map_serializer_field(self, auto_schema: Any, direction: Any) -> dict[str, Any]:
        return {"oneOf": [{"type": "string"}, auto_schema.resolve_serializer(SystemDescription, direction).ref]}


class WorkloadReferenceSchema(OpenApiSerializerFieldExtension):  # type: ignore[no-untyped-call]  # untyped
    target_class = WorkloadReference

    def map_serializer_field(self, auto_schema: Any, direction: Any) -> dict[str, Any]:
        return {"oneOf": [{"type": "integer"}, auto_schema.resolve_serializer(WorkloadDescription, direction).ref]}


class RunDescription(Strict):
    """Facts about a run that the load tool's output does not contain."""

    format = ChoiceField(
        choices=[(one.name, one.title) for one in SUBMITTED.values()],
        required=False,
        help_text="what the output is; left out: recognised by its content",
    )
    system = SystemReference()
    workload = WorkloadReference()
    load_level = LoadLevelDescription(required=False, default=dict)
    started_at = serializers.DateTimeField(
        help_text="ISO 8601; without a zone it is UTC; at most 10 minutes ahead of the server's clock"
    )
    warmup = FiniteField(
        required=False,
        default=None,
        min_value=0,
        max_value=LONGEST_WARMUP,
        help_text="s at the start that do not count; left out: as the output says",
    )
    repetition = serializers.IntegerField(
        required=False, default=None, min_value=1, max_value=100_000, help_text="left out: as the output says, else 1"
    )
    mapping = serializers.JSONField(
        required=False,
        default=None,
        allow_null=True,
        help_text="of the format own: which of the file's values are which metrics, in which unit",
    )
    tags = serializers.ListField(child=NameField(max_length=60), required=False, default=list, max_length=50)
    session = NameField(
        max_length=120,
        required=False,
        default="",
        allow_blank=True,
        help_text="what repeats together: one start of the server, on one host, on one day; equal for runs measured "
        "together; left out: told by host, start of the server and time",
    )
    server_version = serializers.CharField(max_length=120, required=False, default="", allow_blank=True)
    variables = serializers.DictField(
        child=serializers.CharField(max_length=10_000, allow_blank=True),
        required=False,
        default=None,
        allow_null=True,
        help_text="SHOW GLOBAL VARIABLES, name -> value",
    )
    defaults = serializers.DictField(
        child=serializers.CharField(max_length=10_000, allow_blank=True),
        required=False,
        default=None,
        allow_null=True,
        help_text="values of the variables if nobody sets them, as far as the server reports them",
    )
    command = serializers.CharField(
        max_length=limits.COMMAND,
        required=False,
        default="",
        allow_blank=True,
        help_text="the load tool's command line; passwords in it are stored as *",
    )
    host = serializers.DictField(
        child=ScalarField(),
        required=False,
        default=dict,
        help_text="facts of the load generator's host: name, cpus, memory_bytes, kernel, machine",
    )
    data_bytes = serializers.IntegerField(
        required=False,
        default=None,
        allow_null=True,
        min_value=0,
        max_value=2**63 - 1,
        help_text="size of the workload's tables with their indexes",
    )
    uid = serializers.UUIDField(
        required=False, help_text="yours, to send the run again safely; left out: made from what is sent"
    )
    outcome = ChoiceField(choices=["succeeded", "failed"], required=False, default="succeeded")
    reason = serializers.CharField(max_length=2000, required=False, default="", allow_blank=True)

    def validate_started_at(self, started_at: datetime) -> datetime:
        if problem := why_not_started(started_at, now=timezone.now()):
            raise serializers.ValidationError(problem)
        return started_at

    def validate_tags(self, tags: list[str]) -> list[str]:
        return sorted(set(tags))

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        if attrs["reason"] and attrs["outcome"] != "failed":
            raise serializers.ValidationError({"reason": ["belongs to a failed run: say outcome failed too"]})
        if attrs["defaults"] is not None and attrs["variables"] is None:
            raise serializers.ValidationError({"defaults": ["belong to variables: send these too"]})
        return attrs


class RunForm(serializers.Serializer[Any]):
    """multipart/form-data. `description` holds everything; its plain parts may be form fields instead."""

    output = serializers.FileField(help_text="the tool's output, exactly as it was printed")
    series = serializers.FileField(
        required=False, help_text="the tool's own file of its series, where it writes them apart: BenchBase's windows"
    )
    samples = serializers.ListField(
        child=serializers.FileField(),
        required=False,
        help_text="samples of the server and its host: batches in the form in which agents send them, in order, of the "
        "run that `uid` names",
    )
    mapping = serializers.FileField(
        required=False, help_text="of the format own, as YAML or JSON; or as `mapping` within the description"
    )
    description = RunDescription(required=False, help_text="JSON, as a file or as text")
    format = ChoiceField(choices=list(SUBMITTED), required=False)
    system = serializers.CharField(required=False, help_text="slug")
    workload = serializers.IntegerField(required=False, help_text="id")
    threads = serializers.IntegerField(required=False)
    rate = serializers.FloatField(required=False)
    started_at = serializers.DateTimeField(required=False)
    warmup = serializers.FloatField(required=False)
    repetition = serializers.IntegerField(required=False)
    session = serializers.CharField(required=False)
    server_version = serializers.CharField(required=False)
    uid = serializers.UUIDField(required=False)
    outcome = ChoiceField(choices=["succeeded", "failed"], required=False)
    reason = serializers.CharField(required=False)
    tag = serializers.ListField(child=serializers.CharField(), required=False)


def read_description(form: QueryDict) -> dict[str, Any]:
    """The valid description in a submitted form. Raises ApiProblem or ValidationError with the invalid fields."""
    unknown = sorted(set(form) - set(FORM))
    if unknown:
        raise invalid(unknown[0] or NAMELESS, "unknown form field", f"known here: {', '.join(FORM)}")
    stated = _description(form)
    if "mapping" in form:
        if "mapping" in stated:
            raise invalid("mapping", "is stated in the description too", "state it once")
        stated["mapping"] = _mapping(_only(form, "mapping"))
    for name in (*PLAIN, *LOAD):
        if name in form:
            _place(stated, name, _only(form, name))
    if "tag" in form:
        if "tags" in stated:
            raise invalid("tag", "tags are stated in the description too", "state them once")
        stated["tags"] = form.getlist("tag")
    description = RunDescription(data=stated)
    description.is_valid(raise_exception=True)
    return dict(description.validated_data)


def _description(form: QueryDict) -> dict[str, Any]:
    if "description" not in form:
        return {}
    given = _only(form, "description")
    text = given.read() if isinstance(given, UploadedFile) else str(given).encode("utf-8", "surrogatepass")
    try:
        stated = decode_json(text, name="description")
    except InvalidJson as error:
        raise invalid("description", f"is not acceptable JSON: {error}") from error
    if not isinstance(stated, dict):
        raise invalid("description", "must be a JSON object", 'for example {"system": "my-server", …}')
    return stated


def _mapping(given: Any) -> Any:
    content = given.read() if isinstance(given, UploadedFile) else str(given)
    if len(content) > limits.MAPPING:
        raise invalid("mapping", f"has {len(content)} bytes; it may have at most {limits.MAPPING}")
    try:
        return yaml_text.load_with_lines(content, aliases=False)[0]
    except yaml_text.NotYaml as error:
        raise invalid("mapping", f"line {error.line}: {error}" if error.line else str(error)) from error


def _only(form: QueryDict, name: str) -> Any:
    values = form.getlist(name)
    if len(values) != 1:
        raise invalid(name, f"is given {len(values)} times", "give it once")
    return values[0]


def _place(stated: dict[str, Any], name: str, value: Any) -> None:
    if not isinstance(value, str):
        raise invalid(name, "must be a text, not a file", f"-F {name}=…")
    target = stated
    if name in LOAD:
        target = stated.setdefault("load_level", {})
        if not isinstance(target, dict):
            raise invalid("load_level", "must be an object")
    if name in target:
        raise invalid(name, "is stated in the description too", "state it once")
    target[name] = value
