"""Every page and every reading endpoint on the scale rig: no query reads more than is shown, none a whole large table.

A small table is rightly read whole, whatever its indexes. So that a few thousand runs tell what a hundred thousand
would, plans are asked for with all that reads whole tables switched off: a sequential scan that is left has no index to
go by. And the rows that each step of a plan really read are counted, so that a whole index is not read instead.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any
from urllib.parse import urlencode

import pytest
from django.core.management import call_command
from django.db import connection
from django.test import Client
from django.urls import URLPattern, URLResolver, get_resolver, reverse
from django.utils import timezone

from apps.accounts.models import User
from apps.comparison.models import SavedComparison
from apps.comparison.selection import baselines
from apps.dispatch.campaigns import text
from apps.dispatch.models import Campaign, Job, Schedule, ScheduledRun
from apps.notifications.models import Subscription
from apps.notifications.services import send_test
from apps.published.models import Article
from apps.regressions.models import Finding, Trend
from apps.regressions.releases import check, stored_checks
from apps.rest.comparisons.comparisons import INCLUDES
from apps.rig import world
from apps.runs.models import Artifact, Run
from apps.saved.services import save
from apps.web.compare.parts import PARTS
from tests.notifications.made import a_subscription
from tests.regressions.a_finding import a_finding
from tests.support.builders import a_user

RUNS = 4000
WHOLE = ("enable_seqscan", "enable_hashjoin", "enable_mergejoin")
# A page of runs and the tags to choose from, or all runs that are compared: no step of a plan reads more rows; of what
# a run has several of, SEVERAL times as many.
MOST_ROWS, SEVERAL = 2700, 8
# A list of 50 campaigns counts their runs: of a warehouse as small as this one, nearly all.
READS_CAMPAIGNS = ("web:campaigns", "api:campaigns")
# Tables that grow with every run.
LARGE = {
    *("runs_run", "runs_series", "runs_block", "runs_runnode", "runs_measurement", "runs_event", "runs_artifact"),
    *("runs_batch", "runs_distribution", "dispatch_job", "dispatch_jobrun"),
}
# What does not answer a GET with a page: messages of agents, forms that are only sent, links used once.
NOT_READ = {
    *("web:campaign-cancel", "web:job-cancel", "web:sign-in-link", "web:sign-out", "web:campaign-size"),
    "api:campaign-sessions",
    *("web:examples-remove", "web:agent-system", "web:agent-enrolment", "api:agent-enrol"),
    *("web:account", "web:token-revoke", "web:session-end", "web:sessions-end", "web:audit", "api:audit"),
    *("web:people", "web:person", "web:person-link", "web:person-unbind", "web:password"),
    *("web:sign-in-provider", "web:sign-in-provider-callback"),
    *("web:share", "web:shared", "web:shared-withdraw"),
    *("web:health", "livez", "readyz", "metrics"),
    *("api:cancel-campaign", "api:cancel-job", "api:agent-hello", "api:agent-claim", "api:agent-renew"),
    *("api:agent-end-job", "api:agent-open-run", "api:agent-batch", "api:agent-artifact", "api:agent-end-run"),
    *("api:agent-clock", "api:agent-sampling", "api:agent-stream-batch", "api:agent-end-stream", "api:agent-failover"),
    *("web:run-exclude", "web:run-count-again", "web:acknowledge", "web:acknowledgement-withdraw", "web:save"),
    *("web:saved-refresh", "web:saved-describe", "web:saved-delete", "web:pin-baseline"),
    *("api:campaign-files", "api:acknowledgement"),
    *("api:refresh-saved-comparison", "api:price", "api:short-name"),
    *("web:schedule-act", "api:pause-schedule", "api:resume-schedule", "api:run-schedule"),
    *("web:team-delete", "web:subscription-delete", "web:subscription-test", "web:delivery-retry"),
    *("api:subscription-test", "api:delivery-retry"),
    *("web:finding-act", "api:finding-state", "api:finding-acceptance", "api:finding-reopen", "api:finding-owner"),
    *("api:finding-due", "api:finding-labels", "api:finding-comments", "api:finding-links", "api:finding-link"),
    *("api:finding-merge", "api:finding-split", "web:threshold-drop", "api:threshold"),
    *("web:release-sign-off", "web:sign-off-withdraw", "api:sign-off"),
}


def _names(resolver: URLResolver, namespace: str = "") -> Iterator[tuple[str, tuple[str, ...]]]:
    """Name of each address, and its parameters."""
    for pattern in resolver.url_patterns:
        if isinstance(pattern, URLResolver):
            yield from _names(pattern, f"{namespace}{pattern.namespace}:" if pattern.namespace else namespace)
        elif isinstance(pattern, URLPattern) and pattern.name:
            yield f"{namespace}{pattern.name}", tuple(pattern.pattern.converters)


def _addresses() -> dict[str, list[str]]:
    """Name -> addresses to ask for, those that find much and those that find nothing."""
    run = Run.objects.filter(outcome="succeeded", tags__contains=["nightly"]).order_by("-started_at")[0]
    biggest = [spec.slug for spec in world.systems()[:2]]
    compared = Campaign.objects.filter(name__startswith="comparison")[0]
    compared_run = Run.objects.filter(job_run__job__campaign_id=compared.pk)[0]
    release, hardware = run.system.release, run.system.hardware_class
    stored_checks.keep(check.check(release, hardware))
    values: Mapping[str, Any] = {
        "user_id": 1,
        "run_id": run.pk,
        "campaign_id": compared.pk,
        "job_id": Job.objects.all()[0].pk,
        "uid": run.uid,
        "sequence": 0,
        "number": 1,
        "name": Artifact.objects.filter(run=run)[0].name,
        "slug": Article.objects.all()[0].slug,
        "secret": "none",
        "form": "csv",
        "acknowledgement_id": 1,
        **_notifications(),
        "workload_id": run.workload_id,
        "key": "cpu.busy",
        "schedule_id": _schedule(compared),
        "platform": release.platform.slug,
        "version": release.version,
        "sign_off_id": 1,
        "finding_id": _finding(run),
        "action": "state",
        "history_id": _history(run),
        "threshold_id": 1,
        "link_id": 1,
        "token_id": 1,
        "handle": "none",
        "label": "node",
    }
    sides = [("side", slug) for slug in biggest]
    nightly = [*sides, ("workload", run.workload_id)]
    saved = _saved(biggest, run.workload_id)
    baselines.pin(workload=run.workload, system=run.system, note="", by=User.objects.get())
    # Of addresses whose parameters mean something else, or that are many.
    other_arguments: Mapping[str, list[dict[str, Any]]] = {
        "web:compare-part": [{"name": part.name} for part in PARTS],
        "web:saved-part": [{"slug": saved, "name": part.name} for part in PARTS],
        **{key: [{"slug": saved}] for key in ("web:saved", "web:saved-standing", "api:saved-comparison")},
        **{f"web:{page}-export": [{"ending": "csv"}] for page in ("matrix", "schema-changes", "failovers")},
        "web:release-export": [{"platform": release.platform.slug, "version": release.version, "ending": "csv"}],
        "web:price": [{"slug": run.system.hardware_class.slug}],
        "web:short-name": [{"slug": run.system.slug}],
        "web:help-page": [{"name": "reference/verdicts"}],
        "web:help-picture": [{"name": "home"}],
        "prometheus:label-values": [{"label": label} for label in ("node", "run", "__name__")],
    }
    planned = [
        *(("side", system.slug) for system in compared.systems.all()),
        *(("workload", compared_run.workload_id), ("campaign", compared.pk)),
    ]
    filters: list[list[tuple[str, Any]]] = [
        [],
        [("system", biggest[0])],
        [("platform", "galera"), ("outcome", "failed")],
        [("workload", run.workload_id), ("state", "sealed")],
        [("outcome", "cancelled")],
        [("provenance", "agent")],
        [("tag", "nightly")],
        [("since", "2024-01-01"), ("until", "2024-01-20")],
    ]
    metric = ("metric", "client.throughput")
    queries: Mapping[str, list[list[tuple[str, Any]]]] = {
        "web:runs": [*filters, [("before", run.pk)], [("text", "aurora m4")], [("text", "nowhere")]],
        "api:runs": [*filters, [("cursor", run.pk)], [("q", "aurora m4")], [("q", "nowhere")]],
        "web:compare": [[], sides, nightly, planned, [*nightly, ("runs", run.pk)]],
        "api:comparisons": [[*nightly, ("include", ",".join(INCLUDES))], planned],
        **{key: [nightly] for key in ("web:compare-part", "web:compare-everything")},
        **{key: [sides] for key in ("web:matrix", "web:matrix-export", "api:matrix", "web:claims", "api:claims")},
        "web:search": [[("q", "aurora")], [("q", "nowhere")], [("q", "lost connection")], [("q", run.pk)]],
        "api:series": [[metric]],
        "api:series-of-runs": [[("run", run.pk), ("run", compared_run.pk), metric]],
        "api:threshold-preview": [[("smallest", 0.05), ("significant", 1e-6)]],
        "web:release": [[], [("rows", "all")]],
        "api:release-checks": [
            [("platform", release.platform.slug), ("release", release.version), ("hardware", hardware.slug)]
        ],
        "web:timeline": [[], [("series", f"{run.pk}:client.throughput:client")]],
    }
    began, of_run = run.started_at.timestamp(), f'{{run="{run.pk}"}}'
    queries = {
        **queries,
        "prometheus:query": [
            [("query", f"client_throughput{matchers}"), ("time", began + 5)] for matchers in (of_run, '{system="none"}')
        ],
        "prometheus:query-range": [
            [("query", f"client_throughput{of_run}"), ("start", began), ("end", began + 20), ("step", 1)]
        ],
        "prometheus:series": [[("match[]", of_run)], [("match[]", f'{{system="{biggest[0]}",run=~".+"}}')]],
    }
    found: dict[str, list[str]] = {}
    for name, parameters in _names(get_resolver()):
        unknown = [parameter for parameter in parameters if parameter not in values]
        assert not unknown, f"{name}: say here which {unknown} to ask for"
        usual = {parameter: values[parameter] for parameter in parameters}
        paths = [reverse(name, kwargs={**usual, **own}) for own in other_arguments.get(name, [{}])]
        found[name] = [f"{path}?{urlencode(query)}" for path in paths for query in queries.get(name, [[]])]
    return found


def _schedule(campaign: Campaign) -> int:
    """Id of a schedule that began the campaign, the same for whoever asks again."""
    fields = {"plan": text.of(campaign), "cron": "30 2 * * *", "created_by": User.objects.get()}
    schedule, _ = Schedule.objects.get_or_create(name="nightly", defaults=fields)
    moment = {"due_at": campaign.created_at, "state": "complete"}
    ScheduledRun.objects.get_or_create(campaign=campaign, defaults={"schedule": schedule, **moment})
    return schedule.pk


def _finding(run: Run) -> int:
    """Id of a finding about the run's release, the same for whoever asks again; its sides are the runs like it."""
    found = Finding.objects.first()
    if found is None:
        found = a_finding()
        alike = Run.objects.filter(system=run.system, workload=run.workload, load_level=run.load_level, state="sealed")
        before, after = (list(some.values_list("pk", flat=True)[:5]) for some in (alike, alike.order_by("started_at")))
        found.changes.update(system=run.system, workload=run.workload, runs_before=before, runs_after=after)
    return found.pk


def _history(run: Run) -> int:
    """Id of the history that the run is part of, the same for whoever asks again."""
    made, _ = Trend.objects.get_or_create(
        platform=run.system.release.platform,
        hardware_class=run.system.hardware_class,
        settings_hash=run.system.settings_hash,
        workload=run.workload,
        load_level=run.load_level,
        metric=run.workload.primary_metric,
    )
    return made.pk


def _notifications() -> dict[str, int]:
    """A subscription with a delivery, the same for whoever asks again."""
    subscription = Subscription.objects.first() or a_subscription()
    if not subscription.deliveries.exists():
        send_test(subscription_id=subscription.pk, now=timezone.now())
    delivery = subscription.deliveries.all()[0]
    return {"team_id": subscription.team_id, "subscription_id": subscription.pk, "delivery_id": delivery.pk}


def _saved(sides: Sequence[str], workload: int) -> str:
    """Slug of a saved comparison of these sides, the same for whoever asks again."""
    query = {"side": list(sides), "workload": [str(workload)]}
    found = SavedComparison.objects.first() or save(query=query, title="biggest", note="", by=User.objects.get())
    return found.slug


def _read(plan: Mapping[str, Any]) -> Iterator[tuple[str, str, int]]:
    """Table, kind of the scan and rows that were read, of each step."""
    if "Relation Name" in plan:
        rows = plan["Actual Rows"] + plan.get("Rows Removed by Filter", 0)
        yield plan["Relation Name"], plan["Node Type"], int(rows * plan["Actual Loops"])
    for step in plan.get("Plans", ()):
        yield from _read(step)


class Recorder:
    """Keeps each form of query that is executed once, with its values."""

    def __init__(self) -> None:
        self.new: list[tuple[str, Any]] = []
        self._seen: set[str] = set()

    def __call__(self, execute: Any, sql: str, params: Any, many: bool, context: Any) -> Any:
        form = re.sub(r"(%s, )+", "", sql)
        if form not in self._seen and sql.lstrip(" (\n").startswith(("SELECT", "WITH")):
            self._seen.add(form)
            self.new.append((sql, params))
        return execute(sql, params, many, context)

    def taken(self) -> list[tuple[str, Any]]:
        taken, self.new = self.new, []
        return taken


def _problems(sql: str, params: Any) -> Iterator[str]:
    with connection.cursor() as cursor:
        for whole in WHOLE:
            cursor.execute(f"SET LOCAL {whole} = off")
        cursor.execute(f"EXPLAIN (ANALYZE, FORMAT JSON) {sql}", params)
        (answer,) = cursor.fetchone()
        for whole in WHOLE:
            cursor.execute(f"SET LOCAL {whole} = on")
    for table, kind, rows in _read((json.loads(answer) if isinstance(answer, str) else answer)[0]["Plan"]):
        if table in LARGE and kind == "Seq Scan":
            yield f"reads all of {table}"
        elif table in LARGE and rows > MOST_ROWS * (SEVERAL if table in ("runs_measurement", "runs_series") else 1):
            yield f"reads {rows:,} rows of {table} ({kind})"


@pytest.mark.django_db
def test_no_page_reads_more_of_a_large_table_than_it_shows(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    call_command("seed_catalog", verbosity=0)
    call_command("load_published", verbosity=0)
    call_command("seed_rig", runs=RUNS, series=4, seconds=20, processes=1, verbosity=0)
    client.force_login(a_user(role="administrator"))
    complaints: dict[str, None] = {}
    answered: set[str] = set()
    recorder = Recorder()
    for name, addresses in _addresses().items():
        for address in addresses:
            with connection.execute_wrapper(recorder):
                response = client.get(address)
            if response.streaming:
                list(response)  # closes the file
            assert response.status_code < 500, address
            if response.status_code in (200, 302):
                answered.add(name)
            for sql, params in recorder.taken():
                complaints |= (
                    {}
                    if name in READS_CAMPAIGNS
                    else {f"{name}: {problem}\n  {address}\n  {sql[:2000]}": None for problem in _problems(sql, params)}
                )
    assert not complaints, "\n".join(complaints)
    assert set(_addresses()) - answered <= NOT_READ
