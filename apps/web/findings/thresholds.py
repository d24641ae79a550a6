"""The Thresholds page: current thresholds, preview on existing trends, and setting them."""

from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect, QueryDict
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_POST

from apps.accounts.current_user import may_write, writer
from apps.catalog.models import Metric, Workload
from apps.core.problems import FieldProblem, Invalid
from apps.core.text import counted
from apps.regressions.api import Tried, TriedSeries, percent, thresholds
from apps.regressions.api import trend_queries as queries
from apps.regressions.detection import DEFAULT_LIMITS
from apps.regressions.models import Trend
from apps.web.accounts import writers_only
from apps.web.components.pages import render_page
from apps.web.templatetags.changes import p_value
from apps.web.trends.chart import ChangeMark, chart
from workers import tasks

# Number of series drawn in a preview.
MOST_DRAWN = 12
LONGEST_NUMBER = 19
NAMES = ("workload", "metric", "percent", "significant")


@dataclass(frozen=True)
class ThresholdFields:
    """Form values, as text."""

    workload: str
    metric: str
    percent: str
    significant: str

    @property
    def is_tried(self) -> bool:
        return bool(self.percent)

    def values(self) -> dict[str, Any]:
        """Arguments of thresholds.keep and queries.preview. Raises Invalid with every invalid field."""
        errors = []
        numbers = {}
        for name in ("percent", "significant"):
            try:
                numbers[name] = float(getattr(self, name).replace("%", "").strip())
            except ValueError:
                example = "2" if name == "percent" else f"{DEFAULT_LIMITS.significant:g}"
                errors.append(FieldProblem(name, "is not a number", f"write, for example, {example}"))
        known = self.workload.isdecimal() and self.workload.isascii() and len(self.workload) < LONGEST_NUMBER
        if self.workload and not known:
            errors.append(FieldProblem("workload", f"{self.workload[:40]!r} is not a workload", "choose from the list"))
        if errors:
            raise Invalid(errors)
        return {
            "workload": int(self.workload) if self.workload else None,
            "metric": self.metric.replace("\0", "") or None,
            "smallest": numbers["percent"] / 100,
            "significant": numbers["significant"],
        }


@require_http_methods(["GET", "HEAD", "POST"])
def show(request: HttpRequest) -> HttpResponse:
    return _keep(request) if request.method == "POST" else _page(request, _read(request.GET))


@writers_only
def _keep(request: HttpRequest) -> HttpResponse:
    asked = _read(request.POST)
    try:
        kept = thresholds.keep(**asked.values(), by=writer(request))
    except Invalid as error:
        return _page(request, asked, problems=error, status=422)
    tasks.enqueue(tasks.follow_rest)
    what = " and ".join(part for part in (kept.workload_name, kept.metric_name) if part) or "all workloads and metrics"
    messages.info(request, f"The threshold of {what} is saved; its series are reassessed within a minute.")
    return HttpResponseRedirect(reverse("web:thresholds"))


@require_POST
@writers_only
def drop(request: HttpRequest, threshold_id: int) -> HttpResponse:
    if not thresholds.drop(threshold_id):
        raise Http404("That threshold was already removed.")
    tasks.enqueue(tasks.follow_rest)
    messages.info(request, "Threshold removed; the next more general one applies.")
    return HttpResponseRedirect(reverse("web:thresholds"))


def _read(given: QueryDict) -> ThresholdFields:
    return ThresholdFields(**{name: given.get(name, "").strip() for name in NAMES})


def _page(
    request: HttpRequest, asked: ThresholdFields, *, problems: Invalid | None = None, status: int = 200
) -> HttpResponse:
    tried = None
    if asked.is_tried and problems is None:
        try:
            tried = queries.preview(**asked.values())
        except Invalid as error:
            problems, status = error, 400
    drawn = [_drawn(each, tried) for each in tried.series[:MOST_DRAWN]] if tried else []
    watched = Workload.objects.filter(pk__in=Trend.objects.values("workload"))
    context = {
        "asked": asked,
        "errors": {_field(each): each.sentence() for each in problems.errors} if problems else {},
        "kept": [(each, percent_of(each.smallest)) for each in thresholds.kept()],
        "default": (percent_of(DEFAULT_LIMITS.smallest), p_value(DEFAULT_LIMITS.significant)),
        "workloads": [(str(each.pk), str(each)) for each in watched],
        "metrics": list(Metric.objects.filter(pk__in=Trend.objects.values("metric")).values_list("key", "name")),
        "tried": tried,
        "answer": answer(tried) if tried else "",
        "on_releases": on_releases(tried) if tried else "",
        "drawn": drawn,
        "charts": [each["chart"] for each in drawn],
        "not_drawn": max(len(tried.series) - MOST_DRAWN, 0) if tried else 0,
        "may_write": may_write(request),
        "json_url": reverse("api:thresholds"),
        "link": f"{reverse('web:thresholds')}?{urlencode([(name, getattr(asked, name)) for name in NAMES])}",
    }
    return render_page(request, "web/findings/thresholds.html", context, status=status)


def _field(problem: FieldProblem) -> str:
    return {"smallest": "percent"}.get(problem.field, problem.field)


def percent_of(share: float) -> str:
    return f"{share * 100:g}\u00a0%"


def answer(tried: Tried) -> str:
    """Summary of a preview: changes it would report, new ones among them, and those it would withdraw."""
    looked = f"{tried.looked_at} series"
    if tried.looked_at < tried.concerned:
        looked = f"the first {tried.looked_at} of {tried.concerned} series"
    if not tried.looked_at:
        apart = " All have a more specific one, which takes precedence." if tried.kept_apart else ""
        return f"No watched series is affected.{apart}"
    raised = f"It would have reported these {tried.raised}" if tried.raised > 1 else "It would have reported this one"
    text = raised if tried.raised else "It would have reported nothing"
    text += f" on {looked}"
    if tried.too_short:
        text += f", of which {tried.too_short} {'is' if tried.too_short == 1 else 'are'} too short to show a change"
    text += f": {tried.new} not reported yet" if tried.new else ""
    text += f"; {tried.withdrawn} reported now would be withdrawn" if tried.withdrawn else ""
    if tried.kept_apart:
        text += f". {tried.kept_apart} series have a more specific one, which takes precedence"
    return f"{text}."


def on_releases(tried: Tried) -> str:
    """Effect of the threshold's size on release comparisons."""
    found = tried.releases
    if not found.rows:
        return "The size also applies to releases: no stored comparison has a row that it applies to."
    among = f"of {counted(found.rows, 'row')} of their last comparisons"
    texts = [
        f"{count} that {'is' if count == 1 else 'are'} {now} would become {then}"
        for count, now, then in (
            (found.passed, "worse now", "unchanged or inconclusive"),
            (found.worse, "worse by too little now", "worse"),
        )
        if count
    ]
    return f"The size also applies to releases: {among}, {' and '.join(texts) or 'no verdict would change'}."


def _drawn(each: TriedSeries, tried: Tried) -> dict[str, Any]:
    marks = []
    for change in each.changes:
        state = "new" if change.is_new else "as now" if change.stays else "would be withdrawn"
        kind = "new" if change.is_new else change.verdict if change.stays else "gone"
        marks.append(
            ChangeMark(change.place, f"{state}: {percent(change.ratio)}", kind, f"{change.verdict}, {change.version}")
        )
    row = each.row
    text = "; ".join(mark.text for mark in marks)
    label = f"{row.metric_name} of {row.workload_name} at {row.level}: {text}"
    return {
        "row": row,
        "chart": chart(
            each.points,
            each.levels,
            marks,
            anchor=f"trend-{row.id}",
            metric_name=row.metric_name,
            unit=row.unit,
            label=label,
            smallest=tried.limits.smallest,
        ),
        "changes": [(change, percent(change.ratio)) for change in each.changes],
    }
