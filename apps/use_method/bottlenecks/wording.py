"""The limit of a side, in sentences. Pure."""

from collections.abc import Callable, Iterator, Sequence

from apps.core.text import counted
from apps.core.units import with_unit
from apps.use_method.bottlenecks.find import BY_KEY, CPU, Bottleneck, Kind, Onset, PanelsAtLevel
from apps.use_method.resource_table import INDICATORS
from apps.use_method.values import Reading

# (threads, fewer threads) -> throughput at the first over that at the second, with its interval; empty: unknown.
Grown = Callable[[int, int], str]
# Names capitalised within a sentence.
PROPER = ("Galera", "Aurora", "Group")
AT_A_RATE = "fixed rate: no bottleneck is sought"
NO_RUN = "no run counted"
SERVER_TOOK = "the server took"  # of a CPU that is shared with others


def headline(found: Bottleneck) -> str:
    """“limited by CPU from 8 threads on”; mentions the load generator where it shares the CPU."""
    if found.kind is Kind.UNKNOWN:
        return "no run assessed yet"
    if found.kind is Kind.UNSEEN:
        return "limit not observed: no resource of its nodes was sampled"
    if found.kind is Kind.NOTHING:
        seen = " of what could be observed" if found.unseen else ""
        reach = f"up to {threads(found.top)}" if found.levels > 1 else f"at {threads(found.top)}, the only level judged"
        return f"nothing{seen} saturated {reach}"
    since = _since(found)
    if found.kind is Kind.CLIENT:
        return f"the load generator saturates first, {since}: the server was not the limit"
    names = join([_named(onset.resource, found) for onset in found.first])
    if found.first[0].holds is None:
        saturates = "saturates" if len(found.first) == 1 else "saturate"
        return f"{names} {saturates} first, {since}, while throughput still grows"
    return f"limited by {names} {since}"


def judging(judged: int, runs: int) -> str:
    """While runs of a side wait for their panels."""
    return f"being judged: {judged} of {counted(runs, 'run')} so far"


def _named(resource: str, found: Bottleneck) -> str:
    if resource != CPU or not (found.is_shared or found.by_others):
        return name(resource)
    how = "shared with the load generator" if found.is_shared else "mostly taken by processes that are not its servers"
    return f"{name(resource)} ({how})"


def _since(found: Bottleneck) -> str:
    onset = found.first[0]
    text = threads(onset.threads if onset.holds is None else onset.holds)
    return f"from {text} on" if found.levels > 1 else f"at {text}, the only level judged"


def evidence(onset: Onset, *, named: bool = True) -> str:
    """“disk: response time 9.1 × its single-thread value from 64 threads on, queue 66; at 32 threads 4.2 ×”.

    `named`: start with the resource's name.
    """
    own = [_value(onset.reading), *(_value(one) for one in onset.besides)]
    first = f"{own[0]} from {threads(onset.threads)} on"
    text = f"{name(onset.resource)}: " * named + ", ".join([first, *own[1:]])
    if onset.before is None or onset.before_threads is None:
        return text
    below = onset.before.words if onset.before.value is None else _number(onset.before)
    return f"{text}; at {threads(onset.before_threads)} {below}"


def _value(reading: Reading) -> str:
    title = INDICATORS[reading.indicator].title
    if reading.value is None:
        return f"{title} {reading.words}"
    took = next((words for words in reading.words.split("; ") if words.startswith(SERVER_TOOK)), "")
    return f"{title} {_number(reading)}{f' ({took})' if took else ''}"


def _number(reading: Reading) -> str:
    indicator = INDICATORS[reading.indicator]
    return with_unit(reading.value, indicator.unit, indicator.digits)


def throughput(found: Bottleneck, loads: Sequence[PanelsAtLevel], unit: str, grown: Grown) -> str:
    """Throughput from the limit on; empty: nothing saturates, or unknown."""
    known = {load.threads: rate for load in loads if (rate := load.typical_throughput) is not None}
    here = (found.first[0].holds or found.first[0].threads) if found.first else None
    if here is None or here not in known:
        return ""
    parts = [f"throughput {with_unit(known[here], unit)} at {threads(here)}"]
    below = max((each for each in known if each < here), default=None)
    if below is not None:
        parts.append(f"{grown(here, below)} that at {threads(below)}")
    above = [each for each in known if each > here]
    if above:
        best, top = max(above, key=lambda each: known[each]), max(above)
        parts += [f"{grown(each, here)} at {threads(each)}" for each in dict.fromkeys((best, top))]
    return ", ".join(parts)


def notes(found: Bottleneck, grown: Grown) -> list[str]:
    """Remarks: nodes or repetitions that disagree, further saturated resources, resources not observed."""
    return [note[:1].upper() + note[1:] for note in _notes(found, grown)]


def _notes(found: Bottleneck, grown: Grown) -> Iterator[str]:
    for onset in found.first:
        yield from _disagreements(onset, grown)
    yield from _tie(found)
    yield from (_other(onset, found, grown) for onset in found.onsets if onset not in found.first)
    if found.generator:
        yield f"load generator: {found.generator}"
    for key, levels in found.passing:
        yield f"{name(key)}: saturated at {_levels(levels)}, and not above"
    if found.errors:
        yield "errors: " + ", ".join(f"{name(key)} from {threads(since)} on" for key, since in found.errors)
    if found.stands is not None and found.reaches is not None:
        unknown = "its limit was not monitored or reached no threshold"
        why = "before any resource reaches its threshold" if found.first else unknown
        yield f"{_flat(found.stands, found.reaches, grown)}: {why}"
    if found.unseen:
        yield f"not observable: {', '.join(name(key) for key in found.unseen)}"


def _flat(since: int, reaches: tuple[int, float], grown: Grown) -> str:
    """What was measured above `since` threads; `reaches` as in Bottleneck."""
    best, ratio = reaches
    growth = "grows less than half as fast as the threads" if ratio > 1 else "does not grow"
    return f"above {threads(since)} throughput {growth} ({grown(best, since)} at {threads(best)})"


def _disagreements(onset: Onset, grown: Grown) -> Iterator[str]:
    title = name(onset.resource)
    if onset.others:
        are = "is" if len(onset.others) == 1 else "are"
        yield f"{title}: on {join(onset.nodes)} alone, {join(onset.others)} {are} not saturated"
    if onset.share.saturated < onset.share.judged:
        yield f"{title}: in {onset.share.saturated} of {onset.share.judged} repetitions at {threads(onset.threads)}"
    if onset.early:
        since, share = onset.early
        yield f"{title}: in {share.saturated} of {share.judged} repetitions at {threads(since)} already"
    if onset.relents:
        yield f"{title}: not saturated at {_levels(onset.relents)}"
    if onset.holds is not None and onset.holds > onset.threads and onset.grew is not None:
        grew = f"throughput still grew {grown(onset.holds, onset.threads)} to {threads(onset.holds)}"
        yield f"{title}: saturated from {threads(onset.threads)} on, and {grew}"


def _tie(found: Bottleneck) -> Iterator[str]:
    if len(found.first) < 2:
        return
    onset = found.first[0]
    names = join([name(each.resource) for each in found.first])
    if onset.before_threads is None:
        how = "a lower level would show which comes first"
    else:
        how = f"levels between {onset.before_threads:,} and {threads(onset.threads)} would show which comes first"
    if any(each.is_client for each in found.first):
        how = f"the load generator may limit throughput; {how}"
    yield f"{names} saturate at the same level: {how}"


def _other(onset: Onset, found: Bottleneck, grown: Grown) -> str:
    first = found.first[0]
    text = f"{name(onset.resource)}: saturated from {threads(onset.threads)} on"
    if onset.threads < first.threads and onset.grew is not None and onset.grew > 1:
        reach = onset.holds or found.top or onset.threads
        return f"{text}, while throughput still grew {grown(reach, onset.threads)} to {threads(reach)}"
    if onset.threads == first.threads and first.watched < onset.watched:
        return f"{text} too; {name(first.resource)} was at watch before, from {threads(first.watched)} on"
    return f"{text} too" if onset.threads <= first.threads else text


def name(resource: str) -> str:
    """A resource's name within a sentence: “row locks”, “CPU”, “InnoDB row locks”."""
    title = BY_KEY[resource].title if resource in BY_KEY else resource
    word = title.partition(" ")[0]
    keeps = word in PROPER or any(letter.isupper() for letter in word[1:])
    return title if keeps else title[:1].lower() + title[1:]


def threads(number: int | None) -> str:
    return "no level" if number is None else counted(number, "thread")


def join(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def _levels(numbers: Sequence[int]) -> str:
    """“1, 4 and 8 threads”."""
    return join([*(f"{each:,}" for each in numbers[:-1]), threads(numbers[-1])])
