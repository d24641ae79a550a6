"""Systems under test: list them, register one by hand."""

from dataclasses import dataclass
from typing import Any

from django.db import transaction
from django.http import Http404
from drf_spectacular.utils import OpenApiResponse, extend_schema, extend_schema_field
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from apps.accounts.models import ApiToken
from apps.catalog.api import services, set_short_name
from apps.catalog.models import HardwareClass, Node, System
from apps.rest.framework.lists import PageParameters, listing, page_of
from apps.rest.framework.problems import conflict, invalid
from apps.rest.framework.strict import ChoiceField, NameField, SlugField, Strict
from workers.protocol.wire import AwsMessage, HardwareMessage, NodeMessage, SystemMessage


class NodeSerializer(serializers.ModelSerializer[Node]):
    hardware_class = serializers.SlugRelatedField[HardwareClass](slug_field="slug", read_only=True)

    class Meta:
        model = Node
        fields = ("name", "role", "zone", "hardware_class")


class AwsPlaceSerializer(serializers.Serializer[System]):
    """Location of a system at AWS."""

    region = serializers.CharField(source="aws_region")
    kind = ChoiceField(source="aws_kind", choices=System.AwsKind.choices)
    identifier = serializers.CharField(source="aws_identifier")


class SystemSerializer(serializers.ModelSerializer[System]):
    platform = serializers.CharField(source="release.platform.slug", read_only=True)
    version = serializers.CharField(source="release.version", read_only=True)
    hardware_class = serializers.SlugRelatedField[HardwareClass](slug_field="slug", read_only=True)
    slug = serializers.CharField(read_only=True)
    settings = serializers.DictField(child=serializers.CharField(), read_only=True)
    labels = serializers.ListField(child=serializers.CharField(), read_only=True)
    nodes = NodeSerializer(many=True, read_only=True)
    aws = serializers.SerializerMethodField(help_text="null: it is elsewhere")

    class Meta:
        model = System
        fields = (
            "slug",
            "name",
            "short_name",
            "platform",
            "version",
            "hardware_class",
            "endpoint",
            "settings",
            "labels",
            "nodes",
            "aws",
            "created_at",
            "archived_at",
        )

    @extend_schema_field(AwsPlaceSerializer(allow_null=True))
    def get_aws(self, system: System) -> dict[str, Any] | None:
        return AwsPlaceSerializer(system).data if system.aws_region else None


class HardwareDescription(Strict):
    """A machine that may be new to the catalog."""

    slug = SlugField(max_length=80)
    name = NameField(max_length=120)
    vcpu = serializers.IntegerField(min_value=1, max_value=100_000)
    memory_bytes = serializers.IntegerField(min_value=1, max_value=2**60)
    storage = NameField(max_length=120, required=False, default="", allow_blank=True)


class NodeDescription(Strict):
    name = NameField(max_length=80)
    role = ChoiceField(choices=Node.Role.choices, required=False, default="writer")
    zone = NameField(max_length=40, required=False, default="", allow_blank=True)
    hardware_class = SlugField(max_length=80, required=False, help_text="left out: that of the system")


class AwsDescription(Strict):
    """An Aurora cluster or an RDS instance, by its AWS identifier."""

    region = serializers.CharField(max_length=40)
    cluster = serializers.CharField(max_length=63, required=False)
    instance = serializers.CharField(max_length=63, required=False)


class SystemDescription(Strict):
    """A system to register. It never holds a user name or a password."""

    slug = SlugField(max_length=80)
    name = NameField(max_length=120, required=False, help_text="left out: the slug")
    platform = SlugField(max_length=40, help_text="slug; an unknown one is added to the catalog")
    version = NameField(max_length=80, help_text="as SELECT VERSION() says")
    hardware_class = SlugField(max_length=80, help_text="slug, in the catalog or under `hardware`")
    hardware = serializers.ListSerializer[Any](child=HardwareDescription(), required=False, max_length=100)
    endpoint = serializers.CharField(max_length=200, required=False, default="", allow_blank=True)
    settings = serializers.DictField(
        child=serializers.CharField(max_length=2000, allow_blank=True), required=False, default=dict
    )
    nodes = serializers.ListSerializer[Any](child=NodeDescription(), required=False, max_length=100)
    aws = AwsDescription(required=False)

    def validate_nodes(self, nodes: list[dict[str, Any]]) -> list[dict[str, Any]]:
        names = [node["name"] for node in nodes]
        if len(set(names)) < len(names):
            raise serializers.ValidationError("every node needs a name of its own")
        return nodes


class RegisteredSystemSerializer(SystemSerializer):
    warnings = serializers.ListField(child=serializers.CharField(), help_text="what was added or may surprise")

    class Meta(SystemSerializer.Meta):
        fields = (*SystemSerializer.Meta.fields, "warnings")  # type: ignore[assignment]  # adds a field


@dataclass(frozen=True)
class Registered:
    system: System
    created: bool
    warnings: list[str]


def register(description: dict[str, Any], *, at: str = "") -> Registered:
    """The system of a valid SystemDescription, registered if new; `at` is the prefix of field names in errors.

    Raises ApiProblem: 422, or 409 when the catalog's system differs.
    """
    message = SystemMessage(
        slug=description["slug"],
        name=description.get("name", description["slug"]),
        platform=description["platform"],
        version=description["version"],
        hardware_class=description["hardware_class"],
        endpoint=description["endpoint"],
        settings=description["settings"],
        nodes=[NodeMessage(**node) for node in description.get("nodes", [])],
        aws=AwsMessage(**description["aws"]) if "aws" in description else None,
    )
    hardware = [HardwareMessage(**entry) for entry in description.get("hardware", [])]
    created = not System.objects.filter(slug=message.slug).exists()
    try:
        with transaction.atomic():
            registered = services.register_system(message=message, hardware=hardware)
            if registered.differences and not created:
                raise conflict(f"{at}slug", message="; ".join(registered.differences))
    except services.InvalidField as error:
        raise invalid(f"{at}{error.field}", error.message) from error
    return Registered(system=registered.system, created=created, warnings=[*registered.notes, *registered.differences])


class Systems(APIView):
    write_scope = ApiToken.Scope.SUBMIT

    @extend_schema(
        operation_id="list_systems",
        parameters=[PageParameters],
        responses=listing(SystemSerializer, name="System"),
    )
    def get(self, request: Request) -> Response:
        """List systems under test, by slug."""
        PageParameters.read(request)
        systems = System.objects.select_related("release__platform", "hardware_class")
        systems = systems.prefetch_related("nodes__hardware_class")
        return page_of(self, request, systems, key="slug", serializer=SystemSerializer)

    @extend_schema(
        operation_id="register_system",
        request=SystemDescription,
        responses={
            201: RegisteredSystemSerializer,
            200: OpenApiResponse(RegisteredSystemSerializer, description="Already present, identical"),
        },
    )
    def post(self, request: Request) -> Response:
        """Register a system by hand. An existing system is never changed: a difference is a conflict."""
        description = SystemDescription(data=request.data)
        description.is_valid(raise_exception=True)
        registered = register(description.validated_data)
        answer = SystemSerializer(registered.system).data | {"warnings": registered.warnings}
        return Response(answer, status=201 if registered.created else 200)


class ShortNameDescription(Strict):
    short_name = serializers.CharField(
        max_length=1000, help_text="of at most 16 characters, and of no other system in whatever case"
    )


class SystemShortName(APIView):
    @extend_schema(operation_id="name_system", request=ShortNameDescription, responses=SystemSerializer)
    def put(self, request: Request, slug: str) -> Response:
        """Set the name of a system in tables, charts and titles. Until then it is made from platform and nodes."""
        sent = ShortNameDescription(data=request.data)
        sent.is_valid(raise_exception=True)
        if not set_short_name(slug=slug, text=sent.validated_data["short_name"]):
            raise Http404(f"there is no system {slug!r}")
        return Response(SystemSerializer(System.objects.get(slug=slug)).data)
