"""The Failovers page: by system and fault, every trial as a bar of its phases, lost writes, and published results."""

from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import urlencode

from django.http import HttpRequest, HttpResponse, QueryDict
from django.urls import reverse
from django.views.decorators.http import require_safe

from apps.catalog.models import Workload
from apps.comparison.api import FAULTS, FailoverFilter, FailoverResults, FailoverTrial, TrialGroup, load_failovers
from apps.comparison.pure import PHASES, Course
from apps.core.problems import Invalid
from apps.core.query import Address
from apps.core.units import format_number
from apps.published.values import FigureValue
from apps.web.components.pages import refused_file, render_page
from apps.web.components.ticks import linear_ticks
from apps.web.failovers import wording
from apps.web.failovers.exports import comma_separated, markdown

# Margins around a fault, s, in links to the run's timeline.
BEFORE, AFTER = 3.0, 5.0
# Number of trials of a group that are not collapsed.
MOST_OPEN = 12


@dataclass(frozen=True)
class FailoverAddress:
    """The parsed query string."""

    systems: tuple[str, ...] = ()
    faults: tuple[str, ...] = ()
    campaign: int | None = None
    rate: float | None = None

    @classmethod
    def read(cls, query: QueryDict) -> "FailoverAddress":
        """Raises Invalid."""
        address = Address(query, "system", "fault", "campaign", "rate")
        found = cls(
            systems=tuple(address.texts("system")),
            faults=tuple(address.choices("fault", FAULTS)),
            campaign=address.number("campaign"),
            rate=_rate(address),
        )
        address.check()
        return found

    def query(self) -> str:
        pairs = [("system", system) for system in self.systems] + [("fault", fault) for fault in self.faults]
        pairs += [("campaign", str(self.campaign))] if self.campaign is not None else []
        pairs += [("rate", f"{self.rate:g}")] if self.rate is not None else []
        return urlencode(pairs)

    def url(self) -> str:
        query = self.query()
        return f"{reverse('web:failovers')}?{query}" if query else reverse("web:failovers")

    def filter(self) -> FailoverFilter:
        return FailoverFilter(self.systems, self.faults, self.campaign, self.rate)


def _rate(address: Address) -> float | None:
    text = address.text("rate")
    try:
        rate = float(text or "nan")
    except ValueError:
        rate = 0.0
    if text and not 0 < rate < 1e6:
        address.refuse("rate", "is not a rate above 0", "choose one from the list")
    return rate if text else None


@dataclass(frozen=True)
class BarPart:
    """A segment of a bar: from `start` to `end`, % of the scale."""

    kind: str
    start: float
    end: float
    title: str


@dataclass(frozen=True)
class TrialRow:
    """A trial of the table.

    `cells`: end of each phase (s), in phase order, or why there is none; `rows`: affected writes, in words.
    """

    trial: FailoverTrial
    parts: tuple[BarPart, ...]
    mark: str
    cells: tuple[tuple[float | None, str], ...]
    outage: str
    address: str
    rows: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class GroupSheet:
    """A group as shown. `dots`: each counted trial on the scale (%), and whether it recovered."""

    group: TrialGroup
    anchor: str
    answer: str
    shares: tuple[str, ...]
    lines: tuple[TrialRow, ...]
    folded: tuple[TrialRow, ...]
    dots: tuple[tuple[float, bool], ...]
    median: float | None


@dataclass(frozen=True)
class FailoverBar:
    """A row of the overview: a group's write downtime, or a published figure (`stated`)."""

    platform: str
    color: int | None
    name: str
    detail: str
    value: str
    start: float
    end: float
    median: float | None
    is_open: bool
    anchor: str
    origins: tuple[str, ...] = ()
    stated: FigureValue | None = None


@require_safe
def show(request: HttpRequest) -> HttpResponse:
    try:
        address = FailoverAddress.read(request.GET)
    except Invalid as error:
        context = {"problems": error.errors, "address": FailoverAddress(), "found": load_failovers(FailoverFilter())}
        return render_page(request, "web/failovers/failovers.html", context | {"faults": FAULTS}, status=400)
    found = load_failovers(address.filter())
    bars, bar_ticks = _bars(found)
    scale = scale_of([trial.course for group in found.groups for trial in group.trials])
    context = {
        "address": address,
        "found": found,
        # With trials that the filter leaves out, it would be wrong that nothing was measured.
        "stated_answer": "" if found.choices.systems else wording.stated_answer(found.stated),
        "plan_url": "" if found.groups else _plan_url(),
        "sheets": [_sheet(group, scale) for group in found.groups],
        "ticks": _ticks(scale),
        "bars": bars,
        "bar_ticks": bar_ticks,
        "phases": [(key, name) for key, (_, _, name) in PHASES.items()],
        "faults": FAULTS,
        "markdown_url": f"{reverse('web:failovers-export', args=['md'])}?{address.query()}",
        "csv_url": f"{reverse('web:failovers-export', args=['csv'])}?{address.query()}",
        "json_url": f"{reverse('api:failovers')}?{address.query()}",
    }
    return render_page(request, "web/failovers/failovers.html", context)


@require_safe
def export(request: HttpRequest, ending: str) -> HttpResponse:
    """The page's data as a file. Errors are plain text, since clients are programs."""
    try:
        address = FailoverAddress.read(request.GET)
    except Invalid as error:
        return refused_file(error)
    found = load_failovers(address.filter())
    if ending == "md":
        text, media_type = markdown(found, link=request.build_absolute_uri(address.url())), "text/markdown"
    else:
        text = comma_separated(found, link=lambda trial: request.build_absolute_uri(run_address(trial)))
        media_type = "text/csv"
    headers = {"Content-Disposition": f'attachment; filename="failovers.{ending}"'}
    return HttpResponse(text, content_type=f"{media_type}; charset=utf-8", headers=headers)


def run_address(trial: FailoverTrial) -> str:
    """The run's timeline around the fault."""
    course = trial.course
    end = max([course.watched if course.not_recovered else 0.0, *course.reached.values(), course.outage or 0.0])
    span = {"from": f"{max(0.0, course.at - BEFORE):.2f}", "to": f"{course.at + end + AFTER:.2f}"}
    return f"{reverse('web:run', args=[trial.run])}?{urlencode(span)}"


def scale_of(courses: Sequence[Course]) -> float:
    """s after the fault, the same for all bars: up to the last phase of any recovered trial.

    The bar of an unrecovered trial extends to the end of the scale, beyond all others.
    """
    ended = [max([*course.reached.values(), course.outage or 0.0]) for course in courses if not course.not_recovered]
    longest = max(ended, default=0.0) or max((course.watched for course in courses), default=0.0)
    room = 1.02 if len(ended) == len(courses) else 1.15
    return longest * room or 1.0


def _ticks(scale: float) -> list[tuple[str, float]]:
    ticks = linear_ticks(0, scale)
    return [(f"{tick:g} s" if tick == ticks[-1] else f"{tick:g}", 100 * tick / scale) for tick in ticks]


def _sheet(group: TrialGroup, scale: float) -> GroupSheet:
    lines = [_line(trial, scale) for trial in group.trials]
    counted = [trial.course for trial in group.trials if not trial.doubt and trial.course.outage is not None]
    median = group.interruption.median
    return GroupSheet(
        group=group,
        anchor=f"{group.system}-{group.fault}-{group.trials[0].run}",
        answer=wording.answer(group),
        shares=tuple(wording.shares(group)),
        lines=tuple(lines[:MOST_OPEN]),
        folded=tuple(lines[MOST_OPEN:]),
        dots=tuple(
            (_percent(course.outage or 0.0, scale) if course.recovered else 99.0, course.recovered)
            for course in counted
        ),
        median=None if median is None else _percent(median, scale),
    )


def _line(trial: FailoverTrial, scale: float) -> TrialRow:
    course = trial.course
    parts = [
        BarPart(
            phase.key,
            _percent(phase.start, scale),
            _percent(phase.end, scale),
            f"{phase.name}: {format_number(phase.start)} to {format_number(phase.end)} s. {phase.words}",
        )
        for phase in course.phases
        if phase.end > phase.start
    ]
    if course.not_recovered:
        last = course.phases[-1].end if course.phases else 0.0
        parts.append(BarPart("open", _percent(last, scale), 100.0, "no write acknowledged until the end"))
    return TrialRow(
        trial=trial,
        parts=tuple(parts),
        mark=wording.state(course),
        cells=tuple((course.reached.get(key), wording.unreached(course, key)) for key in PHASES),
        outage=wording.outage(course),
        address=run_address(trial),
        rows=tuple(wording.rows(course.rows, course.counts)),
    )


def _percent(seconds: float, scale: float) -> float:
    return round(min(100.0, max(0.0, 100 * seconds / scale)), 3)


def _bars(found: FailoverResults) -> tuple[list[FailoverBar], list[tuple[str, float]]]:
    """Measured and published write downtimes on one scale, and its ticks."""
    longest = [group.interruption.high or group.interruption.watched or 0.0 for group in found.groups]
    longest += [group.interruption.watched or 0.0 for group in found.groups]
    scale = 1.04 * max([*longest, *(figure.value or 0.0 for figure in found.stated)], default=1.0) or 1.0
    measured = [_measured_bar(group, scale) for group in found.groups if group.interruption.trials]
    figures = sorted((figure for figure in found.stated if figure.value is not None), key=_by_conditions)
    stated = [_stated_bar(figure, scale) for figure in figures]
    return measured + stated, _ticks(scale)


def _plan_url() -> str:
    """The form of a campaign, with a failover chosen where the catalog has one."""
    known = Workload.objects.filter(tool="failover").order_by("pk").values_list("pk", flat=True).first()
    return reverse("web:campaign-new") + (f"?workload={known}" if known else "")


def _by_conditions(figure: FigureValue) -> tuple[str, float]:
    return figure.conditions_text, figure.value or 0.0


def _measured_bar(group: TrialGroup, scale: float) -> FailoverBar:
    seen = group.interruption
    middle = seen.median if seen.median is not None else seen.watched
    return FailoverBar(
        platform=group.platform,
        color=group.platform_color,
        name=group.system_name,
        detail=f"{group.fault_name}, {group.load.partition(',')[0]}",
        value=wording.interruption(seen),
        start=_percent(seen.low or 0.0, scale),
        end=_percent(max(seen.high or 0.0, seen.watched or 0.0), scale),
        median=_percent(middle or 0.0, scale),
        is_open=seen.not_recovered > 0,
        anchor=f"{group.system}-{group.fault}-{group.trials[0].run}",
        origins=group.origins,
    )


def _stated_bar(figure: FigureValue, scale: float) -> FailoverBar:
    side = figure.side
    assert side is not None  # noqa: S101  (load_failovers leaves others out)
    of_which = f", {figure.of_which_text}" if figure.of_which_text else ""
    return FailoverBar(
        platform=side.name,
        color=side.color,
        name=side.name,
        detail=figure.conditions_text,
        value=f"{figure.text}{of_which}",
        start=0.0,
        end=_percent(figure.value or 0.0, scale),
        median=_percent(figure.value or 0.0, scale),
        is_open=figure.qualifier == "at_least",
        anchor="",
        stated=figure,
    )
