"""Builders that hide the dull fields: each returns a saved object and takes only what a test is about."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from itertools import count
from typing import Any

from django.utils import timezone

from apps.accounts import tokens
from apps.accounts.credentials import digest_of
from apps.accounts.models import ApiToken, User
from apps.catalog.models import HardwareClass, LoadLevel, Metric, Node, Platform, Release, System, Workload
from apps.core.canonical import canonical_hash
from apps.dispatch.campaigns.plan import PlannedWorkload, alike, create_campaign
from apps.dispatch.models import Agent, Campaign, Job
from apps.runs.models import Artifact, Measurement, Run

START = datetime(2026, 1, 1, 12, tzinfo=UTC)
_number = count(1)


def a_user(*, role: str = "engineer", **fields: Any) -> User:
    return User.objects.create_user(**{"username": f"user{next(_number)}", "role": role, **fields})


def a_token(user: User, name: str = "nightly", *, scope: str = "", days: int = 365) -> tuple[ApiToken, str]:
    """Without a scope: the widest that the user's role allows."""
    chosen = scope or tokens.widest_scope(user)
    return tokens.create(user=user, name=name, scope=chosen, days=days, now=timezone.now())


def owner_of_token(secret: str, now: datetime) -> User | None:
    token = tokens.of_secret(secret, now)
    return token.user if token else None


def a_metric(key: str = "client.throughput", **fields: Any) -> Metric:
    defaults = {"name": key, "unit": "transactions/s", "kind": "gauge", "direction": "higher", **fields}
    return Metric.objects.get_or_create(key=key, defaults=defaults)[0]


def a_system(slug: str = "", **fields: Any) -> System:
    slug = slug or f"system-{next(_number)}"
    platform = fields.pop("platform", None) or Platform.objects.get_or_create(slug="mariadb", name="MariaDB")[0]
    release = Release.objects.get_or_create(platform=platform, version="10.11.19", version_key=[10, 11, 19])[0]
    hardware = HardwareClass.objects.get_or_create(
        slug="small", defaults={"name": "small", "vcpu": 2, "memory_bytes": 8 * 2**30}
    )[0]
    settings = fields.pop("settings", {})
    system = System.objects.create(
        **{
            "slug": slug,
            "name": slug,
            "short_name": fields.get("name", slug) if len(fields.get("name", slug)) <= 16 else f"S{next(_number)}",
            "release": release,
            "hardware_class": hardware,
            "settings": settings,
            "settings_hash": canonical_hash(settings),
            "labels": [f"system:{slug}"],
            **fields,
        }
    )
    Node.objects.create(system=system, name="db1", role="writer", hardware_class=system.hardware_class)
    return system


def a_workload(test: str = "oltp_write_only", **parameters: Any) -> Workload:
    parameters = {"test": test, "tables": 2, "table_size": 1000, **parameters}
    return Workload.objects.get_or_create(
        content_hash=canonical_hash({"tool": "sysbench", "parameters": parameters}),
        defaults={
            "tool": "sysbench",
            "name": test,
            "parameters": parameters,
            "primary_metric": a_metric(),
        },
    )[0]


def a_load_level(threads: int = 4, rate: float | None = None) -> LoadLevel:
    return LoadLevel.objects.get_or_create(threads=threads, rate=rate)[0]


def a_run(**fields: Any) -> Run:
    """A sealed, successful run without series, a minute of which was measured."""
    defaults: dict[str, Any] = {
        "provenance": "agent",
        "state": "sealed",
        "outcome": "succeeded",
        "started_at": START,
        "ended_at": START + timedelta(seconds=60),
        "sealed_at": START + timedelta(seconds=61),
        "duration": 60,
        "measured_from": 0,
        "measured_to": 60,
    }
    defaults["system"] = fields.pop("system", None) or a_system()
    defaults["workload"] = fields.pop("workload", None) or a_workload()
    defaults["load_level"] = fields.pop("load_level", None) or a_load_level()
    return Run.objects.create(**{**defaults, **fields})


HEADLINES = {
    "client.throughput": ("Throughput", "transactions/s", "higher"),
    "client.latency.p95": ("Latency, 95th percentile", "ms", "lower"),
    "client.latency.p99": ("Latency, 99th percentile", "ms", "lower"),
    "client.errors": ("Errors", "errors/s", "lower"),
}


def a_measured_run(values: dict[str, float], **fields: Any) -> Run:
    """A sealed run with headline values by metric key, all read from one artifact."""
    run = a_run(**fields)
    artifact = Artifact.objects.create(run=run, name="sysbench.txt", sha256=f"{run.pk:064x}", size=1000)
    for place, (key, value) in enumerate(values.items()):
        name, unit, direction = HEADLINES.get(key, (key, "", "lower"))
        Measurement.objects.create(
            run=run,
            metric=a_metric(key, name=name, unit=unit, direction=direction),
            value=value,
            artifact=artifact,
            byte_start=place * 10,
            byte_end=place * 10 + 10,
            parser="sysbench",
            parser_version="1",
        )
    return run


def an_agent(*systems: System, secret: str = "", **fields: Any) -> Agent:
    """An agent, seen at START, that may serve `systems`."""
    name = fields.pop("name", f"agent-{next(_number)}")
    defaults = {
        "name": name,
        "digest": digest_of(secret or name),
        "labels": [f"system:{system.slug}" for system in systems],
        "last_seen_at": START,
        "is_trusted": True,
    }
    return Agent.objects.create(**{**defaults, **fields})


def a_campaign(*systems: System, threads: Sequence[int] = (1, 4), **fields: Any) -> Campaign:
    """A campaign of one round on `systems`, in their order, with one workload; its jobs are queued.

    `fields`: of create_campaign, or of planning.alike.
    """
    shared: dict[str, Any] = {
        "workloads": [a_workload()],
        "load_levels": [a_load_level(number) for number in threads],
        "warmup": 0.0,
        "duration": 5.0,
    }
    shared = {name: fields.pop(name, default) for name, default in shared.items()}
    defaults: dict[str, Any] = {
        "name": f"campaign {next(_number)}",
        "systems": systems or [a_system()],
        "entries": alike(**shared),
        "repetitions": 1,
        "created_by": None,
    }
    return create_campaign(**{**defaults, **fields})


def an_entry(workload: Workload | None = None, threads: Sequence[int] = (1, 4), **fields: Any) -> PlannedWorkload:
    """Of a plan: 5 s at each level, on all systems."""
    defaults: dict[str, Any] = {
        "workload": workload or a_workload(),
        "load_levels": [a_load_level(number) for number in threads],
        "warmup": 0.0,
        "duration": 5.0,
    }
    return PlannedWorkload(**{**defaults, **fields})


def a_job(*, state: str = "queued", agent: Agent | None = None, **fields: Any) -> Job:
    """The only job of a campaign of its own, put into `state` as it would be there, its lease good for a minute."""
    job = a_campaign(*fields.pop("systems", ())).jobs.get()
    if state in ("matched", "running", "cancelling"):
        fields = {"agent": agent or an_agent(job.system), "lease_expires_at": START + timedelta(minutes=1), **fields}
    if state in ("running", "cancelling"):
        fields = {"attempt": 1, "started_at": START, **fields}
    if state in ("succeeded", "failed", "cancelled"):
        fields = {"finished_at": START, "reason": "a reason" if state == "failed" else "", **fields}
    Job.objects.filter(pk=job.pk).delete()
    copied = {
        name: getattr(job, name) for name in ("campaign", "entry", "system", "workload", "repetition", "position")
    }
    return Job.objects.create(**copied, state=state, **fields)
