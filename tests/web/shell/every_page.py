"""Addresses of pages that show something, of each kind at least one."""

import re
from html import unescape

from django.test import Client
from django.urls import URLPattern
from django.utils import timezone

from apps.catalog import services as catalog
from apps.dispatch.models import AgentSystem
from apps.dispatch.schedules import services as schedules_services
from apps.notifications.services import send_test
from apps.published import services as published
from apps.regressions.releases import check, stored_checks
from apps.web.urls import urlpatterns
from tests.comparison.schema_changes.altered import an_altered_run
from tests.dispatch.schedules.scheduled import a_schedule
from tests.notifications.made import a_subscription
from tests.regressions.releases.released import NEW, a_release, the_hardware, two_releases
from tests.regressions.trends.made_series import a_trend
from tests.support.builders import a_campaign, a_load_level, a_system, an_agent
from tests.support.failed_over import a_failover, made_up
from tests.web.findings.found import a_finding
from tests.web.runs.recorded_runs import a_sealed_run

# Parts that htmx asks for, and addresses that only take forms or lead elsewhere.
NO_PAGES = {
    "findings-feed",
    "sign-out",
    "sessions-end",
    "save",
    "acknowledge",
    "run-filters",
    "examples-remove",
    "campaign-size",
    "campaign-file",
    "article-new",
    "schedule-times",
    "agent-system",
    "agent-enrolment",
    "account",
    "password",
    "people",
    "person",
    "person-link",
    "person-unbind",
    "sign-in-provider",
    "sign-in-provider-callback",
    "share",
    "audit",
    "health",
}


def addresses() -> list[str]:
    """All systems are of one platform; only articles are about others."""
    catalog.seed()
    published.load_all(published.OWN_DATA)
    one, other = a_system("alpha"), a_system("beta")
    run, beside = (a_sealed_run(system=system, load_level=a_load_level()) for system in (one, other))
    altered = an_altered_run("copy", system=one)
    failed_over = a_failover(other, made_up(6.5))
    campaign = a_campaign(one, other)
    AgentSystem.objects.create(agent=an_agent(one), slug="gamma")
    schedule = a_schedule(next_at=timezone.now())
    schedules_services.start_due(now=timezone.now())
    two_releases()
    stored_checks.keep(check.check(a_release(), the_hardware()))
    subscription = a_subscription()
    (delivery,) = send_test(subscription_id=subscription.pk, now=timezone.now())
    opened = re.search(r'href="([^"]+\?use=[^"]+)"', Client().get(f"/runs/{run.pk}/use/").content.decode())
    assert opened, "the panel has no reading to open"
    sides = f"side=alpha&side=beta&workload={run.workload_id}"
    return [
        f"/runs/{run.pk}/",
        f"/runs/{run.pk}/use/",
        unescape(opened[1]),
        f"/runs/{altered.pk}/",
        f"/runs/{failed_over.pk}/",
        f"/compare/?{sides}",
        f"/compare/?{sides}&tab=all",
        "/matrix/?side=alpha&side=beta",
        "/claims/?side=alpha&side=beta",
        f"/timeline/?series={run.pk}:client.throughput:client&series={beside.pk}:client.latency.p95:client",
        "/published/ddl-under-load-2017/",
        f"/campaigns/{campaign.pk}/",
        f"/findings/{a_finding().pk}/",
        f"/trends/{a_trend().pk}/",
        "/thresholds/?percent=2&significant=1e-6",
        f"/releases/mariadb/{NEW}/?rows=all",
        f"/schedules/{schedule.pk}/",
        f"/schedules/{schedule.pk}/edit/",
        f"/notifications/teams/{subscription.team_id}/",
        f"/notifications/subscriptions/{subscription.pk}/",
        f"/notifications/deliveries/{delivery.pk}/",
        "/search/?q=alpha",
        "/help/reference/verdicts/",
        "/help/howto/agent/",
        "/help/search/?words=lease",
        *(
            f"/{each.pattern}"
            for each in urlpatterns
            if isinstance(each, URLPattern) and "<" not in str(each.pattern) and each.name not in NO_PAGES
        ),
    ]
