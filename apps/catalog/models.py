"""Platforms, releases, hardware classes, systems and nodes, workloads, load levels, metrics."""

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import F, Q
from django.db.models.functions import Lower

from apps.core.names import with_tool
from apps.core.text import counted

SHA256 = r"^[0-9a-f]{64}$"


class Platform(models.Model):
    """A replication architecture."""

    slug = models.SlugField(max_length=40, unique=True)
    name = models.CharField(max_length=80, unique=True)
    replication = models.CharField(max_length=200, blank=True)
    description = models.TextField(blank=True)
    # Fixed index in the colour palette: the same colour on every page; null: next free colour.
    color = models.PositiveSmallIntegerField(null=True, blank=True)

    class Meta:
        ordering = ["name"]

    def __str__(self) -> str:
        return self.name


class Release(models.Model):
    """A version of a platform's software. `version_key`, for sorting: the numbers in the version, in order."""

    platform = models.ForeignKey(Platform, on_delete=models.PROTECT, related_name="releases")
    version = models.CharField(max_length=80)
    version_key = ArrayField(models.BigIntegerField())
    released_on = models.DateField(null=True, blank=True)

    class Meta:
        ordering = ["platform", "version_key", "version"]
        constraints = [
            models.UniqueConstraint(fields=["platform", "version"], name="release_once"),
            models.CheckConstraint(condition=~Q(version=""), name="release_has_version"),
        ]

    def __str__(self) -> str:
        return f"{self.platform.name} {self.version}"


class HardwareClass(models.Model):
    """An instance type or machine with its storage and network; null: not stated.

    `price_date`: the day on which `price_source` stated the price.
    """

    slug = models.SlugField(max_length=80, unique=True)
    name = models.CharField(max_length=120)
    provider = models.CharField(max_length=40, blank=True)
    instance_type = models.CharField(max_length=60, blank=True)
    vcpu = models.PositiveIntegerField(null=True, blank=True)
    memory_bytes = models.BigIntegerField(null=True, blank=True)
    storage = models.CharField(max_length=120, blank=True)
    storage_bytes = models.BigIntegerField(null=True, blank=True)
    iops = models.PositiveIntegerField(null=True, blank=True)
    network_bits_per_second = models.BigIntegerField(null=True, blank=True)
    region = models.CharField(max_length=40, blank=True)
    price_per_hour = models.DecimalField("price, USD/h", max_digits=12, decimal_places=5, null=True, blank=True)
    price_source = models.CharField(max_length=200, blank=True)
    price_date = models.DateField(null=True, blank=True)
    label = models.CharField("as articles call it", max_length=60, blank=True)

    class Meta:
        ordering = ["name"]
        constraints = [
            models.CheckConstraint(condition=Q(vcpu__isnull=True) | Q(vcpu__gt=0), name="hardware_vcpu_positive"),
            models.CheckConstraint(
                condition=Q(memory_bytes__isnull=True) | Q(memory_bytes__gt=0), name="hardware_memory_positive"
            ),
            models.CheckConstraint(
                condition=Q(price_per_hour__isnull=True) | Q(price_per_hour__gte=0), name="hardware_price_not_negative"
            ),
        ]

    def __str__(self) -> str:
        return self.name


class System(models.Model):
    """A system under test: a release deployed on hardware behind one endpoint. Contains no secrets.

    `short_name`: shown in tables and charts. `settings`: server variables set on purpose. `hardware_class`: that of the
    writer. `labels`: required of an agent that serves the system. `aws_region`, `aws_kind`, `aws_identifier`: its
    cluster or instance; empty: not at AWS. `aws_prices`: on demand, of AWS's list, which has another for each engine,
    storage, deployment and region: class -> {"kind", "asked_at", "usd_per_hour": text or null: none fits, "source"}.
    """

    class AwsKind(models.TextChoices):
        CLUSTER = "cluster", "Aurora cluster"
        INSTANCE = "instance", "RDS instance"

    slug = models.SlugField(max_length=80, unique=True)
    name = models.CharField(max_length=120)
    short_name = models.CharField(max_length=16)
    release = models.ForeignKey(Release, on_delete=models.PROTECT, related_name="systems")
    hardware_class = models.ForeignKey(HardwareClass, on_delete=models.PROTECT, related_name="systems")
    endpoint = models.CharField(max_length=200, blank=True)
    settings = models.JSONField(default=dict, blank=True)
    settings_hash = models.CharField(max_length=64)
    labels = ArrayField(models.CharField(max_length=100), default=list, blank=True)
    aws_region = models.CharField(max_length=40, blank=True, db_default="")
    aws_kind = models.CharField(max_length=10, choices=AwsKind.choices, blank=True, db_default="")
    aws_identifier = models.CharField(max_length=63, blank=True, db_default="")
    aws_prices = models.JSONField(default=dict, blank=True, db_default=models.Value({}, models.JSONField()))
    created_at = models.DateTimeField(auto_now_add=True)
    archived_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["name"]
        constraints = [
            models.UniqueConstraint(Lower("short_name"), name="system_short_name_once"),
            models.CheckConstraint(condition=~Q(short_name=""), name="system_has_short_name"),
            models.CheckConstraint(condition=Q(settings_hash__regex=SHA256), name="system_settings_hash_is_sha256"),
            models.CheckConstraint(
                condition=Q(aws_region="", aws_kind="", aws_identifier="")
                | (Q(aws_kind__in=["cluster", "instance"]) & ~Q(aws_region="") & ~Q(aws_identifier="")),
                name="system_aws_place_whole",
            ),
        ]

    def __str__(self) -> str:
        return self.name


class Node(models.Model):
    """One server of a system, with its role and availability zone."""

    class Role(models.TextChoices):
        WRITER = "writer"
        READER = "reader"
        PROXY = "proxy"
        MANAGER = "manager"
        CLIENT = "client"

    system = models.ForeignKey(System, on_delete=models.CASCADE, related_name="nodes")
    name = models.CharField(max_length=80)
    role = models.CharField(max_length=16, choices=Role.choices)
    zone = models.CharField(max_length=40, blank=True)
    hardware_class = models.ForeignKey(HardwareClass, on_delete=models.PROTECT, related_name="nodes")

    class Meta:
        ordering = ["system", "name"]
        constraints = [
            models.UniqueConstraint(fields=["system", "name"], name="node_once"),
            models.CheckConstraint(
                condition=Q(role__in=["writer", "reader", "proxy", "manager", "client"]), name="node_role_known"
            ),
        ]


class Metric(models.Model):
    """A measured quantity. `curated` False: received from a server, described by counter rules only."""

    class Kind(models.TextChoices):
        COUNTER = "counter"
        GAUGE = "gauge"
        DISTRIBUTION = "distribution"

    class Direction(models.TextChoices):
        HIGHER = "higher", "higher is better"
        LOWER = "lower", "lower is better"
        NEUTRAL = "neutral", "neither is better"

    class Aspect(models.TextChoices):
        UTILIZATION = "utilization"
        SATURATION = "saturation"
        ERRORS = "errors"

    key = models.CharField(max_length=160, unique=True)
    name = models.CharField(max_length=160)
    unit = models.CharField(max_length=40, blank=True)
    kind = models.CharField(max_length=16, choices=Kind.choices)
    direction = models.CharField(max_length=8, choices=Direction.choices)
    resource = models.CharField(max_length=40, blank=True)
    aspect = models.CharField(max_length=16, choices=Aspect.choices, blank=True)
    description = models.TextField(blank=True)
    curated = models.BooleanField(default=False)

    class Meta:
        ordering = ["key"]
        constraints = [
            models.CheckConstraint(
                condition=Q(kind__in=["counter", "gauge", "distribution"]), name="metric_kind_known"
            ),
            models.CheckConstraint(
                condition=Q(direction__in=["higher", "lower", "neutral"]), name="metric_direction_known"
            ),
            models.CheckConstraint(
                condition=Q(aspect__in=["", "utilization", "saturation", "errors"]), name="metric_aspect_known"
            ),
        ]

    def __str__(self) -> str:
        return self.key


class Workload(models.Model):
    """A tool with its parameters, without load level. `content_hash`: canonical hash of tool and parameters."""

    tool = models.CharField(max_length=40)
    name = models.CharField(max_length=120)
    parameters = models.JSONField(default=dict)
    content_hash = models.CharField(max_length=64, unique=True)
    primary_metric = models.ForeignKey(Metric, on_delete=models.PROTECT, related_name="+")
    description = models.TextField(blank=True)

    class Meta:
        ordering = ["tool", "name"]
        constraints = [
            models.CheckConstraint(condition=Q(content_hash__regex=SHA256), name="workload_hash_is_sha256"),
            models.CheckConstraint(condition=~Q(tool=""), name="workload_has_tool"),
        ]

    def __str__(self) -> str:
        return with_tool(self.tool, self.name)


class LoadLevel(models.Model):
    """Threads of a closed loop; with a rate (1/s), an open loop with scheduled arrivals."""

    threads = models.PositiveIntegerField()
    rate = models.FloatField("rate, 1/s", null=True, blank=True)

    class Meta:
        ordering = [F("rate").asc(nulls_first=True), "threads"]
        constraints = [
            models.UniqueConstraint(fields=["threads", "rate"], nulls_distinct=False, name="load_level_once"),
            models.CheckConstraint(condition=Q(threads__gt=0), name="load_level_threads_positive"),
            models.CheckConstraint(condition=Q(rate__isnull=True) | Q(rate__gt=0), name="load_level_rate_positive"),
        ]

    def __str__(self) -> str:
        threads = counted(self.threads, "thread")
        return threads if self.rate is None else f"{threads}, {self.rate:g}/s"
