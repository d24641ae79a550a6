"""Tags and filters of every page: numbers, times, colour chips, marks of origin, the navigation.

{{ value|number }}              1,230 with all digits in the title
{{ value|in_unit:"errors" }}    14, not 14.0: a count, whose unit is shown beside it
{{ value|as_printed:"ms" }}     1,382.43, every digit that the tool printed
{{ value|with_unit:"ms" }}      12.3 ms
{% for name, value in parameters|pairs %}
{{ parameters|in_words }}       tables 4, table_size 1000
{{ name|with_tool:tool }}       sysbench oltp_read_only
{{ value|bytes }} {{ seconds|duration }} {{ seconds|estimate }} {{ value|count }}
{% time run.started_at %}       the reader's zone, UTC in the title; {% time t seconds=True %}
{% time_in zone moment %}       2026-03-01 02:30 Europe/Berlin, for every reader
{% side 0 "PXC small" %}        chip in the colour of side 0; {% platform 2 "MHA" %} in that of platform place 2
{% origin "published" %}        mark of origin: published, example, submitted, agent, rig
{% origins row.origins %}       those other than an agent's, each after a space
{{ systems|names }}             their names: a, b and c
{% quality run.failed_checks run.is_excluded %}  marks: excluded, failed checks; nothing when there are none
{% verdict "better" %}          word with its sign; {% verdict word direction="lower" %}
{% level "saturated" %}         level of a resource by the USE method: word with its sign
"""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any
from zoneinfo import ZoneInfo

from django import template
from django.urls import reverse
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.timezone import is_naive

from apps.core import units
from apps.core.names import with_tool as tool_and_name
from apps.runs.pure import title_of
from apps.use_method.pure import UseLevel

register = template.Library()

SIDES = 8  # places in the palette of frontend/src/styles/components/tokens.css
PAGES = (
    ("overview", "Overview"),
    ("runs", "Runs"),
    ("compare", "Compare"),
    ("matrix", "Matrix"),
    ("failovers", "Failovers"),
    ("schema-changes", "Schema changes"),
    ("findings", "Findings"),
    ("releases", "Releases"),
    ("saved-list", "Saved"),
    ("published", "Published"),
    ("campaigns", "Campaigns"),
    ("schedules", "Schedules"),
    ("notifications", "Notifications"),
    ("agents", "Agents"),
    ("catalog", "Catalog"),
    ("help", "Help"),
)
ORIGINS = {
    "published": ("published", "Stated by an article; not measured here"),
    "example": ("example", "Shipped with the product as an example"),
    "submitted": ("submitted", "Submitted by a person or program, without an agent; the tool's raw output is kept"),
    "agent": ("agent", "Measured by an agent beside the database"),
    "rig": ("made up", "Made up by the scale rig to try this installation; nothing was measured"),
}


@register.filter
def number(value: float | None, digits: int = 3) -> SafeString:
    """Three significant digits, all digits in the title."""
    return format_html(
        '<span class="n" title="{}">{}</span>', units.all_digits(value), units.format_number(value, digits)
    )


@register.filter
def with_tool(name: str, tool: str) -> str:
    return tool_and_name(tool, name)


@register.filter
def pairs(mapping: Mapping[str, Any]) -> list[tuple[str, Any]]:
    """Replaces `.items`, which fails for a mapping with a key of that name."""
    return list(mapping.items())


@register.filter
def in_words(mapping: Mapping[str, Any]) -> str:
    return ", ".join(f"{name} {value}" for name, value in mapping.items())


@register.filter
def in_unit(value: float | None, unit: str) -> SafeString:
    """As `number`; counts are whole. The unit itself is shown elsewhere."""
    return format_html(
        '<span class="n" title="{}">{}</span>', units.all_digits(value), units.format_number(value, unit=unit)
    )


@register.filter
def as_printed(value: float | None, unit: str) -> str:
    return units.as_printed(value, unit)


@register.filter
def with_unit(value: float | None, unit: str) -> SafeString:
    full = units.all_digits(value) if value is None else f"{units.all_digits(value)} {unit}".strip()
    return format_html('<span class="n" title="{}">{}</span>', full, units.with_unit(value, unit))


@register.filter(name="bytes")
def bytes_(value: float | None) -> SafeString:
    return with_unit(value, "bytes")


@register.filter
def duration(seconds: float | None) -> SafeString:
    full = units.all_digits(seconds) if seconds is None else f"{units.all_digits(seconds)} s"
    return format_html('<span class="n" title="{}">{}</span>', full, units.format_duration(seconds))


@register.filter
def estimate(seconds: float | None) -> str:
    return units.format_estimate(seconds)


@register.filter
def count(value: int | None) -> str:
    """An amount: every digit, with thousands separators."""
    return units.NOT_OBSERVED if value is None else f"{value:,}"


@register.filter
def fact_name(key: str) -> str:
    """A key of a machine's description in words: "memory_bytes" becomes Memory."""
    words = key.removesuffix("_bytes").removesuffix("_seconds").replace("_", " ")
    return {"cpus": "CPUs", "os": "Operating system", "cpu": "CPU"}.get(words, words[:1].upper() + words[1:])


@register.filter
def fact(value: Any, key: str) -> str | SafeString:
    """A value of a machine's description, formatted by the unit in its key."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int | float) and key.endswith("_bytes"):
        return with_unit(value, "bytes")
    if isinstance(value, int | float) and key.endswith("_seconds"):
        return duration(value)
    if isinstance(value, Mapping):
        return ", ".join(f"{name} {part}" for name, part in value.items())
    if isinstance(value, list | tuple):
        return ", ".join(map(str, value))
    return str(value)


@register.filter
def keep_together(text: str) -> str:
    """Breaks only after the first word and after commas: "oltp_read_write" and "4 × 100,000 rows" stay whole."""
    first, space, rest = text.partition(" ")
    return first + space + rest.replace(" ", units.NBSP).replace(f",{units.NBSP}", ", ")


@register.filter
def short_release(version: str) -> str | SafeString:
    """For example "10.11.19-MariaDB-0+deb12u1" as 10.11.19, the full version in the title."""
    short, dash, _ = version.partition("-")
    return format_html('<span title="{}">{}</span>', version, short) if dash and short else version


@register.simple_tag
def time(moment: datetime | None, *, seconds: bool = False) -> SafeString | str:
    """A time: UTC without JavaScript, else in the reader's zone; UTC always in the title."""
    if moment is None:
        return "not yet"
    if is_naive(moment):
        raise ValueError(f"{moment!r} has no zone: pass an aware datetime")
    utc = moment.astimezone(UTC)
    shown = utc.strftime("%Y-%m-%d %H:%M:%S" if seconds else "%Y-%m-%d %H:%M")
    return format_html(
        '<time datetime="{}" data-local="{}" title="{} UTC">{}</time>',
        utc.isoformat(),
        "seconds" if seconds else "minutes",
        utc.strftime("%Y-%m-%d %H:%M:%S"),
        shown,
    )


@register.simple_tag
def time_in(zone: str, moment: datetime | None, *, named: bool = True) -> SafeString | str:
    """A time in its own zone, with the zone's name (`named` False: without, as in columns); UTC in the title.

    It is not converted to the reader's zone.
    """
    if moment is None:
        return "not yet"
    utc = moment.astimezone(UTC)
    return format_html(
        '<time datetime="{}" title="{} UTC">{}</time>{}',
        utc.isoformat(),
        utc.strftime("%Y-%m-%d %H:%M:%S"),
        moment.astimezone(ZoneInfo(zone)).strftime("%Y-%m-%d %H:%M"),
        f" {zone}" if named else "",
    )


@register.simple_tag
def side(place: int, label: str) -> SafeString:
    """A chip in the colour of a side of a comparison (0 is the baseline)."""
    return format_html('<span class="chip" style="--side: var(--side-{})">{}</span>', place % SIDES, label)


@register.simple_tag
def platform(color: int | None, label: str, *, published: bool = False) -> SafeString:
    """A chip in a platform's fixed colour; grey without a place in the palette."""
    kind = "chip chip--published" if published else "chip"
    if color is None:
        return format_html('<span class="{}">{}</span>', kind, label)
    return format_html('<span class="{}" style="--side: var(--side-{})">{}</span>', kind, color % SIDES, label)


@register.simple_tag
def origin(provenance: str) -> SafeString:
    """The origin of a number."""
    word, title = ORIGINS[provenance]
    return format_html('<span class="mark mark--{}" title="{}">{}</span>', provenance, title, word)


@register.simple_tag
def origins(provenances: Sequence[str]) -> SafeString:
    """Marks of every origin but an agent, which is the usual one; each after a space."""
    return format_html_join("", " {}", ((origin(each),) for each in provenances if each != "agent"))


@register.filter
def names(objects: Sequence[Any]) -> str:
    every = [each.name for each in objects]
    return " and ".join(filter(None, (", ".join(every[:-1]), *every[-1:])))


@register.filter
def check_title(key: str) -> str:
    return title_of(key)


@register.simple_tag
def quality(failed_checks: Sequence[str], is_excluded: bool = False) -> SafeString:
    """Marks for a run's failed checks and exclusion."""
    marks = SafeString("")
    if is_excluded:
        title = "A person left it out: it counts in no comparison"
        marks += format_html('<span class="mark mark--excluded" title="{}">excluded</span> ', title)
    if failed_checks:
        titles = [title_of(key) for key in failed_checks]
        marks += format_html(
            '<span class="mark mark--doubt" title="Failed: {}"><span class="visually-hidden">failed </span>{}</span>',
            ", ".join(titles),
            titles[0] if len(titles) == 1 else f"{len(titles)} checks",
        )
    return marks


@register.simple_tag
def verdict(word: str, *, direction: str = "higher") -> SafeString:
    """A verdict with its sign: if lower is better, the arrow of an improvement points down."""
    kind = word if word in ("better", "worse", "equivalent", "higher", "lower") else "unknown"
    turned = {"better": " verdict--down", "worse": " verdict--up"}.get(kind, "") if direction == "lower" else ""
    return format_html('<span class="verdict verdict--{}{}">{}</span>', kind, turned, word)


@register.simple_tag
def level(name: str) -> SafeString:
    """`name`: a UseLevel. Raises ValueError for any other."""
    found = UseLevel(name)
    return format_html('<span class="level level--{}">{}</span>', found.value, found.word)


@register.simple_tag(takes_context=True)
def navigation(context: template.Context) -> list[dict[str, Any]]:
    """The pages of the left navigation; `current` is True on a page and below it."""
    request = context.get("request")
    here = request.path if request else ""
    pages = []
    for name, label in PAGES:
        address = reverse(f"web:{name}")
        current = here == address if address == "/" else here.startswith(address)
        pages.append({"address": address, "label": label, "current": current})
    return pages
