"""The Thresholds page: current thresholds, preview on existing trends, and setting them."""

from typing import Any, ClassVar
from urllib.parse import urlencode

from django import forms
from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_POST

from apps.accounts.current_user import may_write, writer
from apps.catalog.models import Metric, Workload
from apps.comparison.pure import tones
from apps.core.text import counted
from apps.regressions.api import LATENCY_TOLERANCE, TOLERANCE, Tried, TriedSeries, percent, thresholds
from apps.regressions.api import trend_queries as queries
from apps.regressions.detection import DEFAULT_LIMITS
from apps.regressions.models import Trend
from apps.web.accounts.guards import writers_only
from apps.web.components.forms import PageForm
from apps.web.components.pages import render_page
from apps.web.templatetags.changes import p_value
from apps.web.trends.chart import ChangeMark, chart
from workers import tasks

# Number of series drawn in a preview.
MOST_DRAWN = 12


def _not_a_number(example: str) -> dict[str, str]:
    return dict.fromkeys(("invalid", "required"), f"is not a number (write, for example, {example})")


class PercentField(forms.FloatField):
    def to_python(self, value: Any) -> Any:
        return super().to_python((value or "").replace("%", ""))


class ThresholdForm(PageForm):
    """A threshold to preview or to store; its rules: regressions.thresholds."""

    names: ClassVar = {"smallest": "percent", "margin": "margin_percent"}

    workload = forms.IntegerField(
        label="Workload", required=False, error_messages={"invalid": "is not a workload (choose from the list)"}
    )
    metric = forms.CharField(label="Metric", required=False)
    percent = PercentField(label="Smallest difference, %", error_messages=_not_a_number("2"))
    significant = forms.FloatField(label="p in trends", error_messages=_not_a_number(f"{DEFAULT_LIMITS.significant:g}"))
    margin_percent = PercentField(label="Margin of releases, %", required=False, error_messages=_not_a_number("5"))

    def values(self) -> dict[str, Any]:
        """Arguments of thresholds.keep and queries.preview."""
        data = self.cleaned_data
        return {
            "workload": data["workload"],
            "metric": data["metric"] or None,
            "smallest": data["percent"] / 100,
            "significant": data["significant"],
            "margin": None if data["margin_percent"] is None else data["margin_percent"] / 100,
        }


@require_http_methods(["GET", "HEAD", "POST"])
def show(request: HttpRequest) -> HttpResponse:
    if request.method == "POST":
        return _keep(request)
    if not request.GET.get("percent", "").strip():
        usual = {"percent": "2", "significant": p_value(DEFAULT_LIMITS.significant)}
        return _page(request, ThresholdForm(initial=usual | {name: text for name, text in request.GET.items() if text}))
    form = ThresholdForm(request.GET)
    tried = form.attempt(lambda: queries.preview(**form.values()))
    return _page(request, form, tried, status=400 if form.errors else 200)


@writers_only
def _keep(request: HttpRequest) -> HttpResponse:
    form = ThresholdForm(request.POST)
    kept = form.attempt(lambda: thresholds.keep(**form.values(), by=writer(request)))
    if kept is None:
        return _page(request, form, status=422)
    tasks.enqueue(tasks.follow_rest)
    what = " and ".join(part for part in (kept.workload_name, kept.metric_name) if part) or "all workloads and metrics"
    margin = " Releases compared before keep their margins." if kept.margin is not None else ""
    messages.info(request, f"The threshold of {what} is saved; its series are reassessed within a minute.{margin}")
    return HttpResponseRedirect(reverse("web:thresholds"))


@require_POST
@writers_only
def drop(request: HttpRequest, threshold_id: int) -> HttpResponse:
    if not thresholds.drop(threshold_id):
        raise Http404("That threshold was already removed.")
    tasks.enqueue(tasks.follow_rest)
    messages.info(request, "Threshold removed; the next more general one applies.")
    return HttpResponseRedirect(reverse("web:thresholds"))


def _page(request: HttpRequest, form: ThresholdForm, tried: Tried | None = None, *, status: int = 200) -> HttpResponse:
    drawn = [_drawn(each, tried) for each in tried.series[:MOST_DRAWN]] if tried else []
    watched = Workload.objects.filter(pk__in=Trend.objects.values("workload"))
    context = {
        "form": form,
        "problems": form.problems(),
        "lead": "Nothing was saved; your input is kept." if request.method == "POST" else "",
        "stored": [
            (each, percent_of(each.smallest), "" if each.margin is None else percent_of(each.margin))
            for each in thresholds.stored()
        ],
        "margins": (percent_of(TOLERANCE), percent_of(LATENCY_TOLERANCE)),
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
        "link": f"{reverse('web:thresholds')}?{urlencode({each.name: each.value() or '' for each in form})}",
    }
    return render_page(request, "web/findings/thresholds.html", context, status=status)


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
        return "It also applies to releases: no stored comparison has a row that it applies to."
    among = f"of {counted(found.rows, 'row')} of their last comparisons"
    texts = [
        f"{count} that {'is' if count == 1 else 'are'} {now} would become {then}"
        for count, now, then in (
            (found.passed, "worse now", "unchanged or inconclusive"),
            (found.worse, "worse by too little now", "worse"),
            (found.beyond, "neither worse nor better", "“cannot tell”: they may be worse by more than the margin"),
        )
        if count
    ]
    return f"It also applies to releases: {among}, {' and '.join(texts) or 'no verdict would change'}."


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
            color=tones([row.platform_color])[0],
            metric_name=row.metric_name,
            unit=row.unit,
            label=label,
            smallest=tried.limits.smallest,
        ),
        "changes": [(change, percent(change.ratio)) for change in each.changes],
    }
