"""The Trends pages: the list of watched series with their smallest detectable change, and one series with its chart."""

from collections.abc import Iterable, Sequence
from itertools import groupby
from statistics import median
from typing import Any
from urllib.parse import urlencode

from django.http import Http404, HttpRequest, HttpResponse, QueryDict
from django.urls import reverse
from django.views.decorators.http import require_safe

from apps.comparison.pure import tones
from apps.core.problems import FieldProblem, Invalid
from apps.core.query import Address
from apps.core.units import with_unit
from apps.regressions.api import SIGHTS, TrendChange, TrendDetail, TrendFilter, TrendRow, percent
from apps.regressions.api import trend_queries as queries
from apps.regressions.models import Trend
from apps.web.components.pages import render_page
from apps.web.findings.thresholds import percent_of
from apps.web.templatetags.changes import share
from apps.web.trends import pattern_words
from apps.web.trends.chart import ChangeMark, TrendChart, chart


@require_safe
def show_all(request: HttpRequest) -> HttpResponse:
    status = 200
    problems: tuple[FieldProblem, ...] = ()
    try:
        chosen = read(request.GET)
    except Invalid as error:
        chosen, status, problems = TrendFilter(), 400, error.errors
    found = list(queries.rows_of(chosen).order_by(*queries.MOST_CHANGED)[: queries.MOST_LISTED + 1])
    rows = queries.listed(found[: queries.MOST_LISTED])
    asked = query(chosen)
    context = {
        "rows": rows,
        "chosen": chosen,
        "problems": problems,
        "answer": answer(rows, more=len(found) > len(rows), filtered=bool(asked or problems)),
        "more": len(found) > len(rows),
        "sights": SIGHTS.items(),
        "filtered": bool(asked),
        "json_url": f"{reverse('api:trends')}{f'?{asked}' if asked else ''}",
        **_choices(),
    }
    return render_page(request, "web/trends/trends.html", context, part="web/trends/list_part.html", status=status)


@require_safe
def show(request: HttpRequest, history_id: int) -> HttpResponse:
    found = queries.detail(history_id)
    if found is None:
        raise Http404(f"There is no watched series {history_id}.")
    trend = drawn(found)
    context = {
        "found": found,
        "row": found.row,
        "lede": lede(found),
        "chart": trend,
        "charts": [trend] if trend else [],
        "releases": releases(found),
        "changes": [(change, percent(change.ratio) if change.ratio else "changed") for change in found.changes],
        "patterns": [sentence for _, sentence in pattern_words.marks(found.patterns)],
        "resets": [point for point in found.points if point.reset],
        "is_rated": found.row.reason.startswith(SIGHTS[queries.RATED]),
        "smallest": percent_of(found.limits.smallest),
        "page_url": reverse("web:trend", args=[history_id]),
        "json_url": reverse("api:trend", args=[history_id]),
        "try_url": f"{reverse('web:thresholds')}?{urlencode({'workload': found.row.workload})}",
    }
    return render_page(request, "web/trends/trend.html", context)


def read(given: QueryDict) -> TrendFilter:
    """Raises Invalid."""
    address = Address(given, "platform", "hardware", "tool", "workload", "text", "sight")
    texts = {name: address.text(name) for name in ("platform", "hardware", "tool", "text")}
    found = TrendFilter(workload=address.number("workload"), sight=address.choice("sight", SIGHTS), **texts)
    address.check()
    return found


def query(chosen: TrendFilter) -> str:
    names = ("platform", "hardware", "tool", "workload", "text", "sight")
    return urlencode([(name, value) for name in names if (value := getattr(chosen, name))])


def answer(rows: Sequence[TrendRow], *, more: bool, filtered: bool) -> str:
    """For example "12 series are watched: 9 can show a change, 3 too short. 2 have active changes"."""
    if not rows:
        return "No matches." if filtered else "No series watched yet."
    short = sum(row.reason.startswith("too short") for row in rows)
    noisy = sum(row.reason.startswith("too noisy") for row in rows)
    changed = sum(bool(row.changes) for row in rows)
    rated = sum(row.reason.startswith(SIGHTS[queries.RATED]) for row in rows)
    counts = ((short, "too short"), (noisy, "too noisy"), (rated, "at a fixed rate"))
    parts = [f"{number} {words}" for number, words in counts if number]
    fit = len(rows) - short - noisy - rated
    many = f"{'More than ' if more else ''}{len(rows)} series {'is' if len(rows) == 1 else 'are'} watched"
    text = ", ".join([f"{fit} can show a change", *parts])
    return f"{many}: {text}. {changed or 'None'} {'has' if changed == 1 else 'have'} active changes."


def lede(found: TrendDetail) -> str:
    """Current changes, and the smallest detectable one."""
    row = found.row
    holding = [change for change in found.changes if change.gone_at is None][::-1]
    drift = found.patterns.drift
    text = "; ".join(_words(change, row.unit) for change in holding) or (
        "no change point" if drift else "no active change"
    )
    text = f"{pattern_words.drift(drift)}; {text}" if drift else text
    if row.reason:
        return f"{text[:1].upper()}{text[1:]}. {row.reason[:1].upper()}{row.reason[1:]}."
    seen = f"a change of {share(row.effect)} would be detected within ten runs" if row.effect is not None else ""
    return f"{text[:1].upper()}{text[1:]}. After {row.runs} runs {seen}."


def _words(change: TrendChange, unit: str) -> str:
    size = percent(change.ratio) if change.ratio else "changed"
    values = ""
    if change.before is not None and change.after is not None:
        values = f" ({with_unit(change.before, unit)} → {with_unit(change.after, unit)})"
    return f"{size}{values} with {change.version}, {change.verdict}"


def drawn(found: TrendDetail) -> TrendChart | None:
    row = found.row
    marks = [
        ChangeMark(
            change.place,
            sign(change.verdict) + percent(change.ratio or 1),
            "gone" if change.gone_at else change.verdict,
            f"{change.verdict}, detected at run {change.run}"
            + ("; newer runs do not confirm it" * bool(change.gone_at)),
        )
        for change in found.changes
    ]
    label = f"{row.metric_name} of {len(found.points)} runs of {row.workload_name} at {row.level}: {lede(found)}"
    return chart(
        found.points,
        found.levels,
        marks,
        anchor=f"trend-{row.id}",
        color=tones([row.platform_color])[0],
        metric_name=row.metric_name,
        unit=row.unit,
        label=label,
        smallest=found.limits.smallest,
        slope=found.patterns.slope,
    )


def sign(verdict: str) -> str:
    return {"worse": "worse ", "better": "better "}.get(verdict, "")


def releases(found: TrendDetail) -> list[dict[str, Any]]:
    """Newest first."""
    rows = []
    for version, members in groupby(found.points, key=lambda point: point.version):
        own = list(members)
        values = [point.value for point in own]
        rows.append(
            {
                "version": version,
                "runs": own,
                "newest": own[-1],
                "median": median(values),
                "least": min(values),
                "most": max(values),
            }
        )
    return rows[::-1]


def _choices() -> dict[str, Any]:
    """Filter choices of watched series. One query."""
    places = Trend.objects.order_by().values_list(
        *("platform__slug", "platform__name", "hardware_class__slug", "hardware_class__name", "workload__tool")
    )
    rows = list(places.distinct())
    return {
        "platforms": _sorted((row[0], row[1]) for row in rows),
        "hardware": _sorted((row[2], row[3]) for row in rows),
        "tools": _sorted((row[4], row[4]) for row in rows),
    }


def _sorted(pairs: Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
    return sorted(set(pairs), key=lambda pair: pair[1])
