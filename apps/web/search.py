"""Search by words or id, from every page's search field. Every word must match; eighteen queries at most."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from operator import and_, or_

from django.db.models import Case, F, IntegerField, Q, Value, When
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils.http import urlencode
from django.views.decorators.http import require_safe

from apps.catalog.models import Metric, Release, System, Workload
from apps.core.units import format_number
from apps.dispatch.models import Campaign, Schedule
from apps.dispatch.pure import cron
from apps.published.models import Article
from apps.regressions.models import CheckedRelease, Finding
from apps.runs.api import newest_left_out, rows_of, word_conditions
from apps.runs.models import Run
from apps.saved import services
from apps.web.components.addresses import runs_address
from apps.web.components.lists import typed
from apps.web.components.pages import render_page, takes_only
from apps.web.help.help import find as find_help

EACH = 10
MOST_PAGES, MOST_HELP = 3, 5
MOST_WORDS = 8
MAX_ID = 2**63 - 1


# Address, name, the question that the page answers, and the words that lead to it besides.
PAGES = (
    ("overview", "Home", "which architecture is ahead in what", "scorecard overview aurora pxc galera mha"),
    (
        "compare",
        "Compare",
        "which system is faster, by how much, and how sure is it",
        "comparison ratio against versus",
    ),
    ("matrix", "Matrix", "several systems under everything that was measured", "all tests table"),
    ("saved-list", "Saved comparisons", "comparisons that somebody kept", "saved snapshots"),
    ("published", "Published", "what articles found", "published articles aurora pxc mha"),
    ("runs", "Runs", "everything that was measured", "results benchmarks"),
    ("findings", "Findings", "what got worse or better, under review", "regressions changes deadlocks errors"),
    ("releases", "Releases", "may this release go out", "versions upgrade gate regressions"),
    ("trends", "Trends", "what changed since the baseline, and when", "history regressions nights builds"),
    (
        "failovers",
        "Failovers",
        "how long is no write acknowledged after a fault, and what is lost",
        "failover faults outage downtime recovery crash killed frozen switchover lost writes aurora pxc galera mha",
    ),
    (
        "schema-changes",
        "Schema changes",
        "how long does an ALTER stop writes, and who pays",
        "alter table ddl copy inplace instant stalls metadata locks aurora pxc galera mha",
    ),
    ("campaigns", "Campaigns", "what is measured, planned and done", "plan campaigns measure jobs"),
    ("schedules", "Schedules", "what is measured again and again", "schedules nightly cron"),
    ("agents", "Agents", "the programs beside the databases", "agents enrolment"),
    ("catalog", "Catalog", "systems, releases, hardware, workloads, metrics and prices", "catalog settings metrics"),
)


@dataclass(frozen=True)
class Hit:
    """`value`: what was measured or found, with its unit; empty: nothing. `failed_checks`, `is_excluded`: of a run."""

    label: str
    note: str
    address: str
    value: str = ""
    failed_checks: tuple[str, ...] = ()
    is_excluded: bool = False


@dataclass(frozen=True)
class HitGroup:
    """Hits of one kind; `more`: not all are shown."""

    name: str
    hits: tuple[Hit, ...]
    more: bool


@require_safe
@takes_only("q")
def show(request: HttpRequest) -> HttpResponse:
    text = typed(request, "q")
    words = text.split()[:MOST_WORDS]
    groups = find(words) if words else []
    return render_page(request, "web/search/search.html", {"search_words": text, "groups": groups})


def find(words: Sequence[str]) -> list[HitGroup]:
    """Non-empty groups, the most frequently sought kinds first."""
    found = [
        HitGroup("Pages", tuple(_pages(words)[:MOST_PAGES]), more=False),
        _group("Runs", _runs(words)),
        _group("Systems", _systems(words)),
        _group("Releases", _releases(words)),
        _group("Workloads", _workloads(words)),
        _group("Findings", _findings(words)),
        _group("Campaigns", _campaigns(words)),
        _group("Schedules", _schedules(words)),
        _group("Saved comparisons", _saved(words)),
        _group("Published articles", _articles(words)),
        _group("Metrics", _metrics(words)),
        HitGroup("Help", tuple(_help(words)[:MOST_HELP]), more=False),
    ]
    return [group for group in found if group.hits]


def _pages(words: Sequence[str]) -> list[Hit]:
    """Those with any of the words, the most words first: "galera failover" is about failovers."""
    asked = [word.lower() for word in words]
    found = []
    for address, name, question, besides in PAGES:
        own = f"{name} {besides}".lower().split()
        matched = sum(any(each.startswith(word) for each in own) for word in asked if len(word) > 1)
        if matched:
            found.append((-matched, Hit(name, question, reverse(f"web:{address}"))))
    return [hit for _, hit in sorted(found, key=lambda each: each[0])]


def _help(words: Sequence[str]) -> list[Hit]:
    return [Hit(hit.title, hit.snippet, address) for hit, address in find_help(words)]


def _group(name: str, hits: list[Hit]) -> HitGroup:
    return HitGroup(name, tuple(hits[:EACH]), len(hits) > EACH)


def _every(words: Sequence[str], *fields: str) -> Q:
    """Each word in at least one of the fields."""
    return reduce(and_, (reduce(or_, (Q(**{f"{field}__icontains": word}) for field in fields)) for word in words))


def _runs(words: Sequence[str]) -> list[Hit]:
    conditions = word_conditions(words)
    wanted = reduce(and_, conditions) | Q(tags__contains=[" ".join(words)])
    newest = Run.objects.filter(wanted).order_by("-started_at", "-id").values_list("pk", flat=True)[: EACH + 1]
    number = words[-1].lstrip("#")
    named = len(words) == 1 or (len(words) == 2 and words[0].lower() == "run")
    exact = int(number) if named and number.isascii() and number.isdecimal() and int(number) <= MAX_ID else None
    found = {*newest, *newest_left_out(words, conditions, EACH + 1), exact}
    chosen = Run.objects.filter(pk__in=[pk for pk in found if pk is not None]).order_by(
        Case(When(pk=exact, then=Value(0)), default=Value(1), output_field=IntegerField()), "-started_at", "-id"
    )
    return [
        Hit(
            f"Run {run.id}",
            f"{run.system_name}, {run.workload_name}, {run.load_level}, {run.started_at:%Y-%m-%d}",
            reverse("web:run", args=[run.id]),
            value=f"{format_number(run.throughput)} {run.throughput_unit}" if run.throughput is not None else "",
            failed_checks=run.failed_checks,
            is_excluded=run.is_excluded,
        )
        for run in rows_of(chosen[: EACH + 1])
    ]


def _systems(words: Sequence[str]) -> list[Hit]:
    wanted = _every(
        words,
        "name",
        "short_name",
        "slug",
        "endpoint",
        "release__version",
        "release__platform__name",
        "hardware_class__name",
    )
    rows = System.objects.filter(wanted).select_related("release__platform", "hardware_class")
    return [
        Hit(
            system.short_name,
            f"{system.name}, {system.release} on {system.hardware_class.name}",
            runs_address(system=system.slug),
        )
        for system in rows[: EACH + 1]
    ]


def _releases(words: Sequence[str]) -> list[Hit]:
    found = Release.objects.filter(_every(words, "version", "platform__name")).select_related("platform")
    rows = list(found.order_by("platform__name", "-version_key")[: EACH + 1])
    checks = CheckedRelease.objects.filter(release__in=rows, baseline__isnull=False)
    compared = set(checks.values_list("release_id", flat=True))
    return [
        Hit(
            str(release),
            "compared with an earlier one" if release.pk in compared else "not compared with an earlier one",
            reverse("web:release", args=[release.platform.slug, release.version]),
        )
        for release in rows
    ]


def _workloads(words: Sequence[str]) -> list[Hit]:
    rows = Workload.objects.filter(_every(words, "name", "tool", "description", "parameters"))
    return [
        Hit(
            str(workload),
            ", ".join(f"{name} {value}" for name, value in sorted(workload.parameters.items())),
            runs_address(workload=workload.pk),
        )
        for workload in rows[: EACH + 1]
    ]


def _campaigns(words: Sequence[str]) -> list[Hit]:
    rows = Campaign.objects.filter(_every(words, "name"))
    return [
        Hit(campaign.name, f"planned {campaign.created_at:%Y-%m-%d}", reverse("web:campaign", args=[campaign.pk]))
        for campaign in rows[: EACH + 1]
    ]


def _schedules(words: Sequence[str]) -> list[Hit]:
    rows = Schedule.objects.filter(_every(words, "name")).order_by(F("archived_at").desc(nulls_first=True), "name")
    return [
        Hit(
            schedule.name,
            f"archived {schedule.archived_at:%Y-%m-%d}" if schedule.archived_at else cron.in_words(schedule.cron),
            reverse("web:schedule", args=[schedule.pk]),
        )
        for schedule in rows[: EACH + 1]
    ]


def _findings(words: Sequence[str]) -> list[Hit]:
    rows = Finding.objects.filter(_every(words, "title"), merged_into=None)
    return [
        Hit(
            finding.title,
            f"{finding.get_state_display().lower()}, found {finding.found_at:%Y-%m-%d}",
            reverse("web:finding", args=[finding.pk]),
            value=finding.verdict,
        )
        for finding in rows[: EACH + 1]
    ]


def _saved(words: Sequence[str]) -> list[Hit]:
    return [
        Hit(row.title, f"saved {row.created_at:%Y-%m-%d} by {row.author}", reverse("web:saved", args=[row.slug]))
        for _, row in services.rows(words=words, limit=EACH + 1)
    ]


def _articles(words: Sequence[str]) -> list[Hit]:
    """Also by the platforms that its figures are of."""
    sides = ("figures__side", "figures__numerator", "figures__denominator", "figures__platform__name")
    found = _every(words, "title", "author", "publisher", "slug", "published", *sides)
    rows = Article.objects.filter(pk__in=Article.objects.filter(found).values("pk"))
    return [
        Hit(
            article.title,
            ", ".join(filter(None, [article.author, article.published])),
            reverse("web:article", args=[article.slug]),
        )
        for article in rows[: EACH + 1]
    ]


def _metrics(words: Sequence[str]) -> list[Hit]:
    rows = Metric.objects.filter(_every(words, "key", "name", "description")).order_by("-curated", "key")
    return [
        Hit(
            metric.key,
            ", ".join(filter(None, [metric.name, metric.unit])),
            f"{reverse('web:catalog')}?{urlencode({'text': metric.key})}#metrics",
        )
        for metric in rows[: EACH + 1]
    ]
