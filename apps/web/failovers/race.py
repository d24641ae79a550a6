"""The race: the trials of one fault and load from the fault on, one clock for all; then all sides on one scale."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from urllib.parse import urlencode

from django.urls import reverse

from apps.comparison.api import SCORECARD_FAMILIES, FailoverTrial, Family, TrialGroup
from apps.comparison.pure import PHASES, Course, tones
from apps.core.units import format_number
from apps.published.values import FigureValue
from apps.published.wording import short
from apps.web.components.ticks import linear_ticks
from apps.web.components.tracks import TrackBar
from apps.web.failovers import wording

# Margins around a fault, s, in links to the run's timeline.
BEFORE, AFTER = 3.0, 5.0
# Trials of a group that are not collapsed.
MOST_OPEN = 12
# The longest recovered trial ends here, in per cent: words stand beside it, and a trial without an end goes further.
ENDS_AT = 82.0
STATED_ENDS_AT = 60.0  # the words of the longest bar stand beside it, not on it
FILLERS = ("example", "rig")
# Faults that the articles' figures are about.
STATED_FAULTS = ("kill_writer", "crash")
# Counts of a trial, with their headings.
SHOWN_COUNTS = {
    "lost": "Lost",
    "errant": "Old source only",
    "duplicated": "Duplicated",
    "failed_present": "Failed, yet present",
    "stale": "Stale reads",
}


@dataclass(frozen=True)
class BarPart:
    """A segment of a bar: from `start` to `end`, % of the scale."""

    kind: str
    start: float
    end: float
    title: str


@dataclass(frozen=True)
class TrialLane:
    """A trial as a bar. `phases`: in words; `counts`: heading, key and value; `rows`: affected writes, in words."""

    trial: FailoverTrial
    parts: tuple[BarPart, ...]
    end: float
    mark: str
    outage: str
    phases: str
    counts: tuple[tuple[str, str, int | None], ...]
    address: str
    rows: tuple[tuple[str, str], ...]

    @property
    def is_long(self) -> bool:
        return self.end > ENDS_AT


@dataclass(frozen=True)
class RaceSide:
    """A group of trials. `lanes`: the shortest first; `folded`: those shorter than the shown ones. `tone`: its place in
    the palette. `median`: % of the scale."""

    group: TrialGroup
    tone: int
    anchor: str
    lanes: tuple[TrialLane, ...]
    folded: tuple[TrialLane, ...]
    median: float | None
    head: str
    span: str
    load: str

    @property
    def whole(self) -> tuple[TrialLane, ...]:
        return self.folded + self.lanes


@dataclass(frozen=True)
class AnswerCard:
    """`color`: place in the palette; `details`: all settings that explain a part; `plan`: a campaign would
    fill it."""

    key: str
    color: int | None
    head: str
    words: str
    details: str = ""
    origins: tuple[str, ...] = ()
    plan: bool = False


@dataclass(frozen=True)
class ScaleBar:
    """A bar on the common scale: a group's median with its range, or a published figure (`stated`)."""

    bar: TrackBar
    value: str
    words: str
    origins: tuple[str, ...] = ()
    stated: FigureValue | None = None


@dataclass(frozen=True)
class ScaleSide:
    """The bars of an architecture."""

    name: str
    color: int | None
    bars: tuple[ScaleBar, ...]


Ticks = Sequence[tuple[str, float]]


@dataclass(frozen=True)
class Race:
    """`lens`: where the race's scale ends on the common one, %; None: they differ too little to be shown."""

    cards: tuple[AnswerCard, ...]
    sides: tuple[RaceSide, ...]
    summary: str
    ticks: Ticks
    scale: tuple[ScaleSide, ...]
    scale_ticks: Ticks
    lens: tuple[float, float, str] | None


def race_of(groups: Sequence[TrialGroup], stated: Sequence[FigureValue], *, fault: str) -> Race:
    """`groups`: of this fault and one load; `stated`: published write downtimes."""
    ranked = sorted(groups, key=_rank)
    shown = [figure for figure in stated if figure.value is not None] if fault in STATED_FAULTS else []
    systems = {group.system: group.platform_color for group in ranked}
    places = dict(zip(systems, tones(list(systems.values())), strict=True))
    scale = scale_of([trial.course for group in ranked for trial in group.trials])
    loads = short_loads(ranked)
    sides = tuple(_side(group, places[group.system], scale, load) for group, load in zip(ranked, loads, strict=True))
    whole = _common_scale(ranked, shown)
    return Race(
        cards=tuple(_cards(ranked, stated, shown)),
        sides=sides,
        summary=wording.race(_counting(ranked)),
        ticks=ticks_of(scale),
        # Without published figures it would repeat the race.
        scale=tuple(_scale_sides(ranked, shown, whole)) if shown else (),
        scale_ticks=ticks_of(whole),
        lens=_lens(scale, whole) if ranked and shown else None,
    )


def short_loads(groups: Sequence[TrialGroup]) -> list[str]:
    """Inserts/s of each, or the whole load where a system's groups of a fault differ in nothing else."""
    keys = [(is_filler(group), group.system, group.fault, group.parameters.get("rate")) for group in groups]
    return [
        group.load if keys.count(key) > 1 else group.load.partition(",")[0]
        for group, key in zip(groups, keys, strict=True)
    ]


def is_filler(group: TrialGroup) -> bool:
    return group.origins[0] in FILLERS


def _counting(groups: Sequence[TrialGroup]) -> list[TrialGroup]:
    """Without examples and synthetic groups, unless there are no others."""
    return [group for group in groups if not is_filler(group)] or list(groups)


def run_address(trial: FailoverTrial) -> str:
    """The run's timeline around the fault."""
    course = trial.course
    end = max([course.watched if course.not_recovered else 0.0, *course.reached.values(), course.outage or 0.0])
    span = {"from": f"{max(0.0, course.at - BEFORE):.2f}", "to": f"{course.at + end + AFTER:.2f}"}
    return f"{reverse('web:run', args=[trial.run])}?{urlencode(span)}"


def scale_of(courses: Sequence[Course]) -> float:
    """s after the fault at the end of the scale: beyond the last phase of every recovered trial.

    The bar of a trial that did not recover extends to the end of the scale, beyond all others.
    """
    ended = [max([*course.reached.values(), course.outage or 0.0]) for course in courses if not course.not_recovered]
    longest = max(ended, default=0.0) or max((course.watched for course in courses), default=0.0)
    return longest * 100 / ENDS_AT or 1.0


def ticks_of(scale: float) -> list[tuple[str, float]]:
    ticks = linear_ticks(0, scale)
    return [(f"{tick:g} s" if tick == ticks[-1] else f"{tick:g}", 100 * tick / scale) for tick in ticks]


def _rank(group: TrialGroup) -> tuple[bool, int]:
    """Stable otherwise: those of an architecture come by their median."""
    return is_filler(group), _place(group.platform_slug)


def _place(platform: str) -> int:
    found = [number for number, family in enumerate(SCORECARD_FAMILIES) if platform in family.platforms]
    return found[0] if found else len(SCORECARD_FAMILIES)


def _side(group: TrialGroup, tone: int, scale: float, load: str) -> RaceSide:
    seen = group.interruption
    return RaceSide(
        group=group,
        tone=tone,
        anchor=f"{group.system}-{group.fault}-{group.trials[0].run}",
        lanes=tuple(_lane(trial, scale) for trial in reversed(group.trials[:MOST_OPEN])),
        folded=tuple(_lane(trial, scale) for trial in reversed(group.trials[MOST_OPEN:])),
        median=None if seen.median is None else _percent(seen.median, scale),
        head=wording.median(seen),
        span=wording.span(seen),
        load=load,
    )


def _lane(trial: FailoverTrial, scale: float) -> TrialLane:
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
    return TrialLane(
        trial=trial,
        parts=tuple(parts),
        end=parts[-1].end if parts else 0.0,
        mark=wording.state(course),
        outage=wording.outage(course),
        phases=", ".join(
            f"{name} {wording.unreached(course, key) or format_number(course.reached[key])}"
            for key, (_, _, name) in PHASES.items()
        ),
        counts=tuple((head, key, course.counts[key]) for key, head in SHOWN_COUNTS.items()),
        address=run_address(trial),
        rows=(*wording.rows(course.rows, course.counts), *wording.transfer(course)),
    )


def _percent(seconds: float, scale: float) -> float:
    return round(min(100.0, max(0.0, 100 * seconds / scale)), 3)


def _cards(
    groups: Sequence[TrialGroup], stated: Sequence[FigureValue], shown: Sequence[FigureValue]
) -> Iterable[AnswerCard]:
    """One a group; then one for each architecture that an article has and nobody measured."""
    measured = _counting(groups)
    fillers = [group for group in groups if group not in measured]
    named = {figure.side.platform for figure in stated if figure.side}
    for family in SCORECARD_FAMILIES:
        own = [group for group in measured if group.platform_slug in family.platforms]
        yield from (_card(group, measured) for group in own)
        if not own and named & set(family.platforms):
            yield _empty_card(family, [each for each in shown if each.side and each.side.platform in family.platforms])
    yield from (_card(group, measured) for group in measured if _place(group.platform_slug) == len(SCORECARD_FAMILIES))
    yield from (_card(group, fillers) for group in fillers)


def _card(group: TrialGroup, others: Sequence[TrialGroup]) -> AnswerCard:
    words = wording.below_headline(group, others)
    details = " ".join(wording.shares(group))
    return AnswerCard(group.system, group.platform_color, f"{wording.headline(group)}.", words, details, group.origins)


def _empty_card(family: Family, stated: Sequence[FigureValue]) -> AnswerCard:
    return AnswerCard(family.key, family.color, f"{family.name}: not measured.", wording.stated(stated), plan=True)


def _common_scale(groups: Sequence[TrialGroup], stated: Sequence[FigureValue]) -> float:
    ends = [end for group in groups for end in (group.interruption.high, group.interruption.watched)]
    longest = max([end for end in [*ends, *(figure.value for figure in stated)] if end], default=0.0)
    return longest * 100 / STATED_ENDS_AT or 1.0


def _lens(scale: float, whole: float) -> tuple[float, float, str] | None:
    """Ends of one number of seconds on both scales, with the number."""
    if whole <= scale:
        return None
    last = linear_ticks(0, scale)[-1]
    return _percent(last, scale), _percent(last, whole), f"the same {last:g} s"


def _scale_sides(groups: Sequence[TrialGroup], stated: Sequence[FigureValue], scale: float) -> Iterable[ScaleSide]:
    """Of each architecture the measured groups, then what articles state; in the order of the race."""
    bars: dict[tuple[int, str], list[ScaleBar]] = {}
    colors: dict[str, int | None] = {}
    for group in groups:
        if group.interruption.trials:
            place = _architecture(group.platform_slug, group.platform)
            bars.setdefault(place, []).append(_measured_bar(group, scale))
            colors[place[1]] = group.platform_color
    for figure in sorted(stated, key=lambda figure: (figure.conditions_text, figure.value or 0.0)):
        if figure.side:
            place = _architecture(figure.side.platform, figure.side.name)
            bars.setdefault(place, []).append(_stated_bar(figure, scale))
            colors.setdefault(place[1], figure.side.color)
    return [ScaleSide(name, colors[name], tuple(own)) for (_, name), own in sorted(bars.items())]


def _architecture(platform: str, name: str) -> tuple[int, str]:
    """Its place and name; a platform of no architecture stands by its own name."""
    place = _place(platform)
    return place, SCORECARD_FAMILIES[place].name if place < len(SCORECARD_FAMILIES) else name


def _measured_bar(group: TrialGroup, scale: float) -> ScaleBar:
    seen = group.interruption
    width = _percent((seen.median if seen.median is not None else seen.watched) or 0.0, scale)
    if seen.median is None:
        bar = TrackBar(width, is_open=True)
        value = f"≥ {wording.seconds(seen.watched)}"
    else:
        bar = TrackBar(width, _percent(seen.low or 0.0, scale), _percent(seen.high or 0.0, scale))
        value = wording.seconds(seen.median)
    lasting = f", {seen.not_recovered} of {seen.trials} not recovered" if seen.not_recovered else ""
    return ScaleBar(bar, value, f"measured, {group.system_name}{lasting}", group.origins)


def _stated_bar(figure: FigureValue, scale: float) -> ScaleBar:
    parts = [f"published {figure.article.published[:4]}", figure.conditions_text, figure.of_which_text]
    return ScaleBar(
        bar=TrackBar(_percent(figure.value or 0.0, scale), is_open=figure.qualifier == "at_least"),
        value=short(figure.stated, figure.unit),
        words=", ".join(filter(None, parts)),
        stated=figure,
    )
