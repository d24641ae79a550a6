"""The page Health: each check of the server, what is wrong first, and its own programs that were started again."""

from datetime import UTC, datetime

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from apps.core.server import restarts
from apps.operations.api import HealthVerdict, report
from apps.web.accounts.guards import administrators_only
from apps.web.components.pages import render_page, takes_only

RESTARTS_SHOWN = 20


@never_cache
@require_safe
@administrators_only
@takes_only()
def show(request: HttpRequest) -> HttpResponse:
    rows = report(now=timezone.now())
    context = {
        "rows": rows,
        "wrong": [row for row in rows if row.verdict is not HealthVerdict.OK],
        "restarts": [
            (each, datetime.fromtimestamp(each.at, UTC)) for each in restarts.read(settings.VAR_DIR)[:RESTARTS_SHOWN]
        ],
    }
    return render_page(request, "web/health/health.html", context)
