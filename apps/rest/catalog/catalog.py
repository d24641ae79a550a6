"""The catalog's lists: platforms, releases, hardware classes, workloads, metrics. Systems have their own module."""

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from apps.catalog.models import HardwareClass, Metric, Platform, Release, Workload
from apps.catalog.pure import derived_metrics
from apps.rest.catalog.known import require_known
from apps.rest.framework.lists import NoParameters, PageParameters, Parameters, listing, page_of, whole
from apps.rest.framework.strict import SlugField


class PlatformSerializer(serializers.ModelSerializer[Platform]):
    slug = serializers.CharField(read_only=True)

    class Meta:
        model = Platform
        fields = ("slug", "name", "replication", "description", "color")


class ReleaseSerializer(serializers.ModelSerializer[Release]):
    platform = serializers.SlugRelatedField[Platform](slug_field="slug", read_only=True)

    class Meta:
        model = Release
        fields = ("id", "platform", "version", "released_on")


class HardwareClassSerializer(serializers.ModelSerializer[HardwareClass]):
    slug = serializers.CharField(read_only=True)
    usd_per_hour = serializers.DecimalField(
        source="price_per_hour", max_digits=12, decimal_places=5, read_only=True, allow_null=True
    )

    class Meta:
        model = HardwareClass
        fields = (
            "slug",
            "name",
            "provider",
            "instance_type",
            "vcpu",
            "memory_bytes",
            "storage",
            "storage_bytes",
            "iops",
            "network_bits_per_second",
            "region",
            "usd_per_hour",
            "price_source",
            "price_date",
            "label",
        )


class WorkloadSerializer(serializers.ModelSerializer[Workload]):
    parameters = serializers.DictField(read_only=True)
    primary_metric = serializers.SlugRelatedField[Metric](slug_field="key", read_only=True)

    class Meta:
        model = Workload
        fields = ("id", "tool", "name", "parameters", "content_hash", "primary_metric", "description")


class MetricSerializer(serializers.ModelSerializer[Metric]):
    formula = serializers.SerializerMethodField(
        help_text="of a derived metric, over the keys of others, a counter meaning its rate; empty: it is measured"
    )

    class Meta:
        model = Metric
        fields = ("key", "name", "unit", "kind", "direction", "resource", "aspect", "description", "curated", "formula")

    def get_formula(self, metric: Metric) -> str:
        return derived_metrics.formula_of(metric.key)


class ReleaseParameters(Parameters):
    platform = SlugField(required=False, help_text="slug of a platform")


class MetricParameters(PageParameters):
    curated = serializers.BooleanField(
        required=False, allow_null=True, default=None, help_text="whether somebody has described the metric"
    )
    resource = serializers.CharField(required=False, max_length=40, help_text="for example cpu, disk, network")


class Platforms(APIView):
    @extend_schema(operation_id="list_platforms", responses=listing(PlatformSerializer, name="Platform"))
    def get(self, request: Request) -> Response:
        """List all platforms under comparison, by name."""
        NoParameters.read(request)
        return whole(Platform.objects.order_by("name"), serializer=PlatformSerializer)


class Releases(APIView):
    @extend_schema(
        operation_id="list_releases",
        parameters=[ReleaseParameters],
        responses=listing(ReleaseSerializer, name="Release"),
    )
    def get(self, request: Request) -> Response:
        """List releases by platform, oldest version first."""
        parameters = ReleaseParameters.read(request)
        require_known(parameters)
        releases = Release.objects.select_related("platform").order_by("platform__name", "version_key", "version")
        if "platform" in parameters:
            releases = releases.filter(platform__slug=parameters["platform"])
        return whole(releases, serializer=ReleaseSerializer)


class HardwareClasses(APIView):
    @extend_schema(
        operation_id="list_hardware_classes", responses=listing(HardwareClassSerializer, name="HardwareClass")
    )
    def get(self, request: Request) -> Response:
        """List hardware classes, by name; null means not stated."""
        NoParameters.read(request)
        return whole(HardwareClass.objects.order_by("name"), serializer=HardwareClassSerializer)


class Workloads(APIView):
    @extend_schema(
        operation_id="list_workloads",
        parameters=[PageParameters],
        responses=listing(WorkloadSerializer, name="Workload"),
    )
    def get(self, request: Request) -> Response:
        """List workloads, in order of creation."""
        PageParameters.read(request)
        workloads = Workload.objects.select_related("primary_metric")
        return page_of(self, request, workloads, key="id", serializer=WorkloadSerializer)


class Metrics(APIView):
    @extend_schema(
        operation_id="list_metrics", parameters=[MetricParameters], responses=listing(MetricSerializer, name="Metric")
    )
    def get(self, request: Request) -> Response:
        """List metrics with unit, kind and direction, by key."""
        parameters = MetricParameters.read(request)
        metrics = Metric.objects.all()
        if parameters["curated"] is not None:
            metrics = metrics.filter(curated=parameters["curated"])
        if "resource" in parameters:
            metrics = metrics.filter(resource=parameters["resource"])
        return page_of(self, request, metrics, key="key", serializer=MetricSerializer)
