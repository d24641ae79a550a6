"""Creates and removes a synthetic warehouse for testing an installation at its expected size."""

import json
import multiprocessing
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from django.db import connection, connections, transaction
from django.db.models import F, ProtectedError, Q

from apps.accounts.credentials import digest_of, new_secret
from apps.catalog.api import labels_of
from apps.catalog.api import services as catalog_services
from apps.catalog.models import HardwareClass, Node, Platform, Release, System, Workload
from apps.core.canonical import canonical_hash
from apps.dispatch.models import Agent, Campaign
from apps.regressions.api import synthetic
from apps.rig import world
from apps.rig.make_runs import CLIENT_KEYS, MEASURED, Shape, keys_of, runs_of
from apps.rig.plan import PlannedCampaign, campaigns
from apps.rig.world import SystemSpec
from apps.rig.write import STATEMENT, Catalog, write_campaign
from apps.runs.api import artifacts, deletion
from apps.runs.models import Configuration, Run

AGENT = "rig"
TABLES = 8
ROWS = 1_000_000
# A server has about three constant series for each one that changes.
CONSTANTS_PER_SERIES = 3


class NotEmpty(Exception):
    """There are runs already, or an agent of the rig's name; the text describes them."""


@dataclass(frozen=True)
class _Work:
    shape: Shape
    seed: int
    catalog: Catalog

    def write(self, planned: PlannedCampaign) -> int:
        made = runs_of(planned, shape=self.shape, metrics=self.catalog.metrics, seed=self.seed)
        write_campaign(planned, made, shape=self.shape, catalog=self.catalog)
        return len(made)


def seed(*, runs: int, shape: Shape, seed: int, add: bool, processes: int) -> Iterator[int]:
    """Yields the number of runs written, after each campaign. The same seed gives the same warehouse, except ids.

    Raises NotEmpty if a rig exists already, or an agent of its name, and without `add` if there are other runs.
    """
    if Agent.objects.filter(name=AGENT, revoked_at=None).exists():
        raise NotEmpty(f"an agent is named {AGENT!r}, as the rig's own would be: revoke it on the page Agents first")
    if Run.objects.filter(provenance=Run.Provenance.RIG).exists():
        raise NotEmpty("the rig's runs exist already: remove them with --remove first")
    if not add and Run.objects.exists():
        raise NotEmpty("this warehouse has runs that are not of the rig: use --add to add synthetic runs")
    specs = world.systems()
    work = _Work(shape, seed, _catalog(specs, shape))
    plan = campaigns(runs=runs, seed=seed, systems=specs)
    done = 0
    for count in _each(work, plan, processes):
        done += count
        yield done
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE")


def remove() -> Iterator[int]:
    """Delete what `seed` made; yields the number of deleted runs. Catalog rows referenced by others are kept."""
    slugs = [spec.slug for spec in world.systems()]
    rig = Run.objects.filter(provenance=Run.Provenance.RIG)
    # By their slugs those of which an interrupted removal left no run.
    made_up = System.objects.filter(Q(slug__in=slugs) | Q(pk__in=rig.values("system")))
    others = Run.objects.exclude(provenance=Run.Provenance.RIG)
    systems = list(made_up.exclude(pk__in=others.values("system")))
    synthetic.delete_findings([system.pk for system in systems])
    yield from deletion.delete_runs(rig)
    # A user's agent may have the name, too, and have measured systems of the rig.
    made = Campaign.objects.filter(jobs__agent__name=AGENT, created_by=None)
    made = made.exclude(systems__in=System.objects.exclude(slug__in=slugs))
    own = made.exclude(jobs__job_runs__isnull=False).order_by().values_list("pk", flat=True).distinct()
    Campaign.objects.filter(pk__in=list(own)).delete()
    Agent.objects.filter(name=AGENT, revoked_at=F("created_at"), jobs=None).delete()
    for system in systems:
        try:
            with transaction.atomic():
                system.delete()
        except ProtectedError:
            continue
    for platform in world.PLATFORMS:
        versions = [version for version, _ in platform.releases]
        Release.objects.filter(platform__slug=platform.slug, version__in=versions, systems=None).delete()


# ---------------------------------------------------------------- processes

_work: list[_Work] = []


def _each(work: _Work, plan: Sequence[PlannedCampaign], processes: int) -> Iterator[int]:
    if processes == 1:
        yield from map(work.write, plan)
        return
    connections.close_all()  # must not be shared with a child process
    with multiprocessing.get_context("fork").Pool(processes, _work.append, (work,)) as pool:
        yield from pool.imap_unordered(_write, plan)


def _write(planned: PlannedCampaign) -> int:
    return _work[0].write(planned)


# ---------------------------------------------------------------- the catalog


@transaction.atomic
def _catalog(specs: Sequence[SystemSpec], shape: Shape) -> Catalog:
    catalog_services.seed()
    keys = {key for spec in specs for _, own in keys_of(spec, shape) for key in own}
    systems = {spec.slug: _system(spec) for spec in specs}
    configurations: dict[tuple[str, int], int] = {}
    constants: dict[tuple[str, int], str] = {}
    for spec in specs:
        for number, (recording, own) in enumerate(keys_of(spec, shape), 1):
            variables = recording.variables | dict(spec.settings) | {"version": spec.server_version}
            digest = canonical_hash(variables)
            row, _ = Configuration.objects.get_or_create(content_hash=digest, defaults={"variables": variables})
            configurations[spec.slug, number] = row.pk
            still = list(recording.constants.items())[: CONSTANTS_PER_SERIES * len(own)]
            constants[spec.slug, number] = json.dumps(dict(still))
    agent, is_new = Agent.objects.get_or_create(name=AGENT, defaults={"digest": digest_of(new_secret())})
    if is_new:
        # Nobody knows its secret.
        Agent.objects.filter(pk=agent.pk).update(revoked_at=agent.created_at)
    return Catalog(
        systems=systems,
        workloads={spec.test: _workload(spec.test) for spec in world.WORKLOADS},
        levels={threads: catalog_services.load_level_for(threads=threads) for threads in world.THREADS},
        metrics=catalog_services.metrics_for({*CLIENT_KEYS, *MEASURED, *keys}),
        configurations=configurations,
        constants=constants,
        agent=agent,
        sha256=artifacts.keep(STATEMENT),
    )


def _workload(test: str) -> Workload:
    parameters: Mapping[str, object] = {"test": test, "tables": TABLES, "table_size": ROWS}
    return catalog_services.workload_for(tool="sysbench", parameters=parameters)


def _system(spec: SystemSpec) -> System:
    platform = Platform.objects.get(slug=spec.platform.slug)
    hardware = HardwareClass.objects.get(slug=spec.hardware)
    system, created = System.objects.get_or_create(
        slug=spec.slug,
        defaults={
            "name": spec.name,
            "short_name": spec.short_name,
            "release": catalog_services.release_for(platform=platform, version=spec.release),
            "hardware_class": hardware,
            "settings": dict(spec.settings),
            "settings_hash": canonical_hash(dict(spec.settings)),
            "labels": labels_of(spec.slug),
        },
    )
    if created:
        Node.objects.bulk_create(
            Node(system=system, name=name, role=role, hardware_class=hardware) for name, role in spec.platform.nodes
        )
    return system
