"""Texts of failovers: write downtime, settings that explain it, affected writes."""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from apps.comparison.api import FaultVerdict, TrialGroup, was_interrupted
from apps.comparison.pure import Course, Insert, Interruption, TimeoutShare, TrialSpread, WriteRows, with_interval
from apps.core.text import and_list, counted
from apps.core.units import NBSP, format_number
from apps.published.values import FigureValue
from apps.published.wording import short

COUNT_WORDS = {
    "lost": "lost",
    "errant": "rows only on the old source",
    "duplicated": "twice",
    "failed_present": "failed, yet present",
    "stale": "stale reads",
}
DECIDED = ("better", "worse")
# A longest trial beyond this multiple of the median is named beside it.
FAR = 1.5
ROW_WORDS = {
    "lost": "Acknowledged and not in the table",
    "errant": "Only on the old source",
    "duplicated": "In the table more than once",
    "failed_present": "Failed for the client and in the table",
}


def seconds(value: float | None) -> str:
    return f"{format_number(value)}{NBSP}s"


def interruption(found: Interruption) -> str:
    """For example "6.45 s (median of 3, 6.31 to 6.62 s)"; unrecovered trials are mentioned first."""
    if not found.trials:
        return "no trial counted"
    if not found.not_recovered:
        is_single = found.trials == 1
        return f"{seconds(found.median)} ({'1 trial' if is_single else f'median of {found.trials}, {_span(found)}'})"
    words = f"not recovered in {found.not_recovered} of {found.trials} ({seconds(found.watched)} watched)"
    if found.low is not None:
        words += f"; the other{'s' if found.trials - found.not_recovered > 1 else ''} {_span(found)}"
    return words if found.median is None else f"{words}; median of all {seconds(found.median)}"


def median(found: Interruption) -> str:
    """Without unit: "6.09", or what is known where it falls on a trial that did not recover."""
    if found.median is not None:
        return format_number(found.median)
    return f"≥ {format_number(found.watched)}" if found.trials else "no trial counts"


def span(found: Interruption) -> str:
    """ "6.01–6.34", and what did not recover; empty: one trial, or all alike."""
    parts = []
    if found.low is not None and found.high is not None and found.high > found.low:
        parts.append(f"{format_number(found.low)}–{format_number(found.high)}")
    if found.not_recovered:
        parts.append(f"{found.not_recovered} of {found.trials} not recovered")
    return ", ".join(parts)


def _span(found: Interruption) -> str:
    if found.low is None or found.high is None or found.low == found.high:
        return seconds(found.low)
    return f"{format_number(found.low)} to {seconds(found.high)}"


def answer(group: TrialGroup) -> str:
    """Summary of a group, a sentence without its full stop."""
    return "; ".join(filter(None, [interruption(group.interruption), writes(group)]))


def below_headline(group: TrialGroup, others: Iterable[TrialGroup]) -> str:
    """What the headline of its card leaves out."""
    found = group.interruption
    if not found.trials:
        return ""
    known = f"median of {found.trials}, {_span(found)}" if found.trials > 1 else counted(found.trials, "trial")
    parts = [interruption(found) if found.not_recovered else known, writes(group), ahead(group, others)]
    text = "; ".join(filter(None, parts))
    return f"{text[:1].upper()}{text[1:]}. {largest_share(group)}".strip()


def writes(group: TrialGroup) -> str:
    """What became of the writes and reads of its trials; empty: none counts."""
    lost, trials = group.counts["lost"], group.interruption.trials
    if lost is None:
        return "the table was not read back" if trials else ""
    others = [
        f"{_of(span)} {COUNT_WORDS[key]}{_in_some(trials, group.unread[key])}"
        for key in ("errant", "duplicated", "failed_present", "stale")
        if (span := group.counts[key]) and span[1]
    ]
    words = "no acknowledged write lost" if not lost[1] else f"{_of(lost)} acknowledged writes lost"
    if group.unread["lost"]:
        words += f"{_in_some(trials, group.unread['lost'])}, {group.unread['lost']:,} not read back"
    return ", ".join([words, *others])


def _in_some(trials: int, unread: int) -> str:
    """Of how many trials a count is known; empty: of all."""
    return f" in {trials - unread:,} of {counted(trials, 'trial')}" if unread else ""


def headline(group: TrialGroup) -> str:
    """For example "MHA is back in 8.67 s, longest 15.6 s"; a trial without an end comes before any median."""
    found, name = group.interruption, group.platform
    if not found.trials:
        return f"{name}: no trial counts"
    if found.not_recovered:
        return f"{name} did not recover in {found.not_recovered} of {counted(found.trials, 'trial')}"
    if not any(trial.course.interrupted for trial in group.trials if not trial.doubt):
        return f"{name} was not interrupted"
    text = f"{name} is back in {seconds(found.median)}"
    if found.high is not None and found.median is not None and found.high > FAR * found.median:
        return f"{text}, longest {seconds(found.high)}"
    return text


def ahead(group: TrialGroup, others: Iterable[TrialGroup]) -> str:
    """Whose trials all took longer than each of this group; empty: nobody's, or too few trials to say so."""
    own = group.interruption
    slower = [
        other.platform
        for other in others
        if min(own.trials, other.interruption.trials) > 1
        and own.high is not None
        and not own.not_recovered
        and own.high < _shortest(other.interruption)
    ]
    return f"each trial shorter than any of {and_list(list(dict.fromkeys(slower)))}" if slower else ""


def _shortest(found: Interruption) -> float:
    return min(end for end in (found.low, found.watched) if end is not None)


def verdict(found: FaultVerdict) -> str:
    """Of two systems under a fault: "MHA 1+2 1.34 × [1.28, 1.41] of Galera ×3: worse"."""
    first, other = found.shortest, found.group
    if lasting := [group for group in (first, other) if group.interruption.not_recovered]:
        return and_list([_not_recovered(group) for group in lasting])
    if found.ratio is None:
        return f"{first.system_name} and {other.system_name} were not interrupted"
    if found.words not in DECIDED:
        return f"{first.system_name} and {other.system_name}: {found.words}"
    if not was_interrupted(first):
        return (
            f"{first.system_name} was not interrupted, "
            f"{other.system_name} for {seconds(other.interruption.median)}: {found.words}"
        )
    return f"{other.system_name} {with_interval(found.ratio)} of {first.system_name}: {found.words}"


def _not_recovered(group: TrialGroup) -> str:
    found = group.interruption
    return f"{group.system_name} did not recover in {found.not_recovered} of {counted(found.trials, 'trial')}"


def race(groups: Sequence[TrialGroup]) -> str:
    """For example "12 trials, each from its fault; no acknowledged write lost"."""
    trials = sum(group.interruption.trials for group in groups)
    parts = [f"{counted(trials, 'trial')}, each from its fault"]
    if lasting := sum(group.interruption.not_recovered for group in groups):
        parts.append(f"{lasting} did not recover")
    spans = [span for group in groups if (span := group.counts["lost"])]
    unread = sum(group.unread["lost"] for group in groups)
    if spans:
        lost = max(span[1] for span in spans)
        words = f"up to {lost:,} acknowledged writes lost" if lost else "no acknowledged write lost"
        parts.append(words + _in_some(trials, unread))
    if unread:
        parts.append(f"{unread:,} not read back")
    return "; ".join(parts)


def stated(figures: Iterable[FigureValue]) -> str:
    """For example "Published 2015 and 2016: 8 to 15 s."; empty: none."""
    own = sorted(figures, key=lambda figure: figure.value or 0.0)
    if not own:
        return ""
    years = and_list(sorted({figure.article.published[:4] for figure in own}))
    first = f"{own[0].stated} to " if own[0].value != own[-1].value else ""
    return f"Published {years}: {first}{short(own[-1].stated, own[-1].unit)}."


def _of(span: tuple[int, int]) -> str:
    """Range of a count over the trials."""
    return f"{span[0]:,}" if span[0] == span[1] else f"{span[0]:,} to {span[1]:,}"


def shares(group: TrialGroup) -> Iterator[str]:
    """Settings that explain part of the median, for example "6 of 8 s are the proxy's interval × fall"."""
    median = group.interruption.median
    if median is None:
        return
    for share in group.shares:
        yield _share(share, median, group.proxy if share.who == "the proxy" else None)
    if len(group.shares) > 1:
        yield "They start at the fault and overlap: they do not add up."


def largest_share(group: TrialGroup) -> str:
    """The setting that explains most of the median; empty: none does."""
    median, largest = group.interruption.median, max(group.shares, key=lambda share: share.seconds, default=None)
    if median is None or largest is None:
        return ""
    return _share(largest, median, group.proxy if largest.who == "the proxy" else None)


def _share(share: TimeoutShare, median: float, seen: TrialSpread | None) -> str:
    text = f"{part_of(share, median)} are {share.who}'s {share.setting} ({share.formula})"
    if seen is None:
        return f"{text}."
    return f"{text}; acted {seconds(seen.median)} after the fault{_median_of(seen)}."


def part_of(share: TimeoutShare, median: float) -> str:
    """For example "Up to 6 of 8.10 s": the share of the outage that a setting can explain, which may be all."""
    whole = share.seconds >= median
    return f"Up to all of {seconds(median)}" if whole else f"Up to {share.seconds:g} of {seconds(median)}"


def _median_of(seen: TrialSpread) -> str:
    return f" (median of {seen.count})" if seen.count > 1 else ""


def state(course: Course) -> str:
    """State that the bar's length does not show; empty: recovered."""
    if course.outage is None:
        return "outage not reported"
    if course.not_recovered:
        return f"not recovered in {seconds(course.watched)}"
    return "" if course.interrupted else "no interruption"


def unreached(course: Course, key: str) -> str:
    """Why a phase has no time; empty: it has one."""
    if key in course.reached:
        return ""
    if course.not_recovered:
        return "not noticed" if key == "detect" else "not reached"
    if not course.interrupted:
        return "none"
    return {"detect": "planned", "promote": "not seen"}.get(key, "not reached")


def outage(course: Course) -> str:
    if course.outage is None:
        return "not reported"
    return f"≥ {format_number(course.outage)}" if course.not_recovered else format_number(course.outage)


def rows(listed: WriteRows, counts: Mapping[str, int | None]) -> Iterator[tuple[str, str]]:
    """Affected writes and reads by kind: inserts by number, with their due times."""
    kinds = {
        "lost": listed.lost,
        "errant": listed.errant,
        "duplicated": listed.duplicated,
        "failed_present": listed.failed_present,
    }
    for key, found in kinds.items():
        if found or counts[key]:
            yield ROW_WORDS[key], _inserts(found) + _more(len(found), counts[key])
    if listed.stale or counts["stale"]:
        reads = ", ".join(f"{read.number} at {read.place} {_moment(read.at)}" for read in listed.stale)
        yield "Reads that missed an earlier acknowledged insert", reads + _more(len(listed.stale), counts["stale"])


def transfer(course: Course) -> Iterator[tuple[str, str]]:
    if course.transfer:
        yield "State transfer", course.transfer.words


def _inserts(found: Iterable[Insert]) -> str:
    """Consecutive numbers are merged: "161 to 209 (+0.04 to +2.44 s)"."""
    spans: list[list[Insert]] = []
    for one in found:
        if spans and one.number == spans[-1][-1].number + 1:
            spans[-1].append(one)
        else:
            spans.append([one])
    return ", ".join(_span_of(span[0], span[-1]) for span in spans)


def _span_of(first: Insert, last: Insert) -> str:
    if first is last:
        return f"{first.number} {_moment(first.due)}".strip()
    due = "" if first.due is None or last.due is None else f" ({first.due:+.2f} to {last.due:+.2f}{NBSP}s)"
    return f"{first.number} to {last.number}{due}"


def _moment(at: float | None) -> str:
    return "" if at is None else f"({at:+.2f}{NBSP}s)"


def _more(listed: int, count: int | None) -> str:
    if count and not listed:
        return f"{count:,}, not listed in the run's report; its artifact holds every write and read"
    return f" and {count - listed:,} more" if count is not None and count > listed else ""
