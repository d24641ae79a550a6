"""Filter of findings: one form for pages, API, feeds and subscriptions."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from datetime import UTC, datetime
from typing import Any, cast

from django.db.models import Case, Exists, F, FloatField, OuterRef, Q, QuerySet, Value, When
from django.db.models.functions import Coalesce

from apps.accounts.models import User
from apps.catalog.models import HardwareClass, Platform, Release, Workload
from apps.core.problems import FieldProblem, Invalid
from apps.core.query import unknown_choice, unknown_parameter, whole_number
from apps.regressions.findings.reconcile import OPEN
from apps.regressions.models import Change, Finding

ME, NOBODY = "me", "nobody"
STATES = tuple(each.value for each in Finding.State)
VERDICTS = tuple(each.value for each in Finding.Verdict)
KINDS = tuple(each.value for each in Finding.Kind)
# By size, worse first; by discovery, newest first; by last activity.
SORTS = ("size", "newest", "changed")
# Of verdicts in the order by size; findings that are gone come last.
RANKS = {"worse": 3e6, "mixed": 3e6, "missing": 2e6, "better": 1e6}
LONGEST = 200
_CHOICES = {"state": ("open", *STATES), "verdict": VERDICTS, "kind": KINDS}
_MANY = ("state", "verdict", "label")
# Paths to the subject: of the finding, and of its missing results, since a schedule may cover several platforms.
_PLACES = {
    "platform": ("platform__slug", "system__release__platform__slug"),
    "hardware": ("hardware_class__slug", "system__hardware_class__slug"),
    "release": ("release__version", "system__release__version"),
    "family": ("family", "workload__tool"),
}


@dataclass(frozen=True)
class FindingFilter:
    """Empty fields do not restrict. `state` and `verdict`: any of these ("open": new, under review or confirmed);
    `label`: all of these; `platform` and `hardware`: slugs; `release`: version; `family`: load tool; `owner`: user
    name, "me" or "nobody"; `smallest`: relative change (0.05 for 5 %); `text`: words of title, labels and reason.

    The default selects all findings that were not merged into another."""

    state: tuple[str, ...] = ()
    verdict: tuple[str, ...] = ()
    kind: str = ""
    platform: str = ""
    hardware: str = ""
    release: str = ""
    family: str = ""
    owner: str = ""
    label: tuple[str, ...] = ()
    smallest: float | None = None
    text: str = ""
    sort: str = "size"

    @property
    def is_empty(self) -> bool:
        return self == FindingFilter(sort=self.sort)

    def as_query(self) -> list[tuple[str, str]]:
        """Name and value pairs, as in an address."""
        pairs: list[tuple[str, str]] = []
        for name, value in self.as_json().items():
            pairs += [(name, f"{each}") for each in (value if isinstance(value, list) else [value])]
        return pairs

    def as_json(self) -> dict[str, Any]:
        """The fields that differ from the default; `read` is the inverse."""
        empty = asdict(FindingFilter())
        given = asdict(self)
        return {
            name: list(value) if isinstance(value, tuple) else value
            for name, value in given.items()
            if value != empty[name]
        }


NAMES = tuple(field.name for field in fields(FindingFilter))


def read(stated: Mapping[str, Any]) -> FindingFilter:
    """From texts and lists of texts, of a query string (QueryDict) or JSON. Raises Invalid with all problems."""
    problems: list[FieldProblem] = []
    values: dict[str, Any] = {}
    for name in stated:
        if name not in NAMES:
            problems.append(FieldProblem(name, unknown_parameter(NAMES)))
            continue
        given = [each for each in _given(stated, name) if each not in ("", None)]
        if name not in _MANY and len(given) > 1:
            problems.append(FieldProblem(name, "is given more than once", "give it once"))
        elif given:
            values[name] = _value(name, given, problems)
    if problems:
        raise Invalid(problems)
    return FindingFilter(**values)


def _given(stated: Mapping[str, Any], name: str) -> Sequence[Any]:
    if hasattr(stated, "getlist"):
        return list(stated.getlist(name))
    value = stated[name]
    return value if isinstance(value, list | tuple) else [value]


def _value(name: str, given: Sequence[Any], problems: list[FieldProblem]) -> Any:
    if name == "smallest":
        try:
            smallest = float(given[0])
        except (TypeError, ValueError):
            smallest = math.nan
        if not 0 <= smallest < math.inf:
            problems.append(FieldProblem(name, f"{str(given[0])[:40]!r} is not a size", "use 0.05 for 5 %"))
        return smallest
    texts = tuple(str(each).strip() for each in given)
    choices = SORTS if name == "sort" else _CHOICES.get(name)
    for text in texts:
        if len(text) > LONGEST or "\0" in text:
            problems.append(FieldProblem(name, "is too long or has NUL", f"use at most {LONGEST} characters"))
        elif choices is not None and text not in choices:
            problems.append(FieldProblem(name, unknown_choice(text, choices)))
    return tuple(dict.fromkeys(texts)) if name in _MANY else texts[0]


def unknown(wanted: FindingFilter) -> list[FieldProblem]:
    """Problems of the filter that name something that does not exist, so that nothing can match."""
    named: tuple[tuple[str, str, QuerySet[Any]], ...] = (
        ("platform", "platform", Platform.objects.filter(slug=wanted.platform)),
        ("hardware", "hardware class", HardwareClass.objects.filter(slug=wanted.hardware)),
        ("release", "release", Release.objects.filter(version=wanted.release)),
        ("family", "load tool with a workload", Workload.objects.filter(tool=wanted.family)),
        ("owner", "user", User.objects.filter(username=wanted.owner)),
    )
    problems = []
    for name, words, known in named:
        value = getattr(wanted, name)
        if value and not (name == "owner" and value in (ME, NOBODY)) and not known.exists():
            remedy = "use a slug of the catalog" if name in ("platform", "hardware") else "check the spelling"
            problems.append(FieldProblem(name, f"there is no {words} {value!r}", remedy))
    return problems


def matching(wanted: FindingFilter, *, me: User | None = None) -> "QuerySet[Finding]":
    """Matching findings, unordered. `me`: the user that "me" stands for; None: "me" matches nothing."""
    found = Finding.objects.filter(merged_into=None).order_by()
    states = {each for name in wanted.state for each in (OPEN if name == "open" else (name,))}
    if states:
        found = found.filter(state__in=states)
    if wanted.verdict:
        found = found.filter(verdict__in=wanted.verdict)
    if wanted.label:
        found = found.filter(labels__contains=list(wanted.label))
    if wanted.kind:
        found = found.filter(kind=wanted.kind)
    asked = {name: getattr(wanted, name) for name in _PLACES if getattr(wanted, name)}
    if asked:
        own = Q(**{_PLACES[name][0]: value for name, value in asked.items()})
        lacking = Change.objects.filter(finding=OuterRef("pk"), kind=Change.Kind.MISSING)
        lacking = lacking.filter(**{_PLACES[name][1]: value for name, value in asked.items()})
        found = found.filter(own | Exists(lacking))
    if wanted.smallest:
        found = found.filter(largest__gte=wanted.smallest)
    if wanted.owner:
        found = found.filter(_owner(wanted.owner, me))
    for word in wanted.text.split():
        found = found.filter(Q(title__icontains=word) | Q(reason__icontains=word) | Q(labels__icontains=word))
    return found


def without_state(wanted: FindingFilter) -> FindingFilter:
    return replace(wanted, state=())


def _owner(owner: str, me: User | None) -> Q:
    if owner == NOBODY:
        return Q(owner=None)
    if owner == ME:
        return Q(owner=me) if me is not None else Q(pk__in=[])
    return Q(owner__username=owner)


@dataclass(frozen=True)
class FindingPlace:
    """Of a finding in a list: its sort value when the list was read, and its id. As text it is a page's cursor."""

    key: float | datetime
    id: int

    def __str__(self) -> str:
        return f"{self.key.isoformat() if isinstance(self.key, datetime) else self.key}_{self.id}"


def read_place(text: str, sort: str) -> FindingPlace | None:
    """None: it is no cursor of a list in this order."""
    stated, _, number = text.rpartition("_")
    found = whole_number(number)
    key = _moment(stated) if sort == "changed" else whole_number(stated) if sort == "newest" else _finite(stated)
    return None if found is None or key is None else FindingPlace(key, found)


def _moment(text: str) -> datetime | None:
    try:
        found = datetime.fromisoformat(text)
        return found.astimezone(UTC) if found.tzinfo is not None else None
    except (ValueError, OverflowError):
        return None


def _finite(text: str) -> float | None:
    try:
        found = float(text)
    except ValueError:
        return None
    return found if math.isfinite(found) else None


def with_key(found: "QuerySet[Finding]", sort: str) -> "QuerySet[Finding]":
    """Ordered by `sort`; `key` is the sort value, and the id breaks ties."""
    if sort == "newest":
        return found.annotate(key=F("id")).order_by("-id")
    if sort == "changed":
        return found.annotate(key=F("changed_at")).order_by("-key", "-id")
    ranks = [When(verdict=verdict, then=Value(rank)) for verdict, rank in RANKS.items()]
    rank = Case(*ranks, default=Value(0.0), output_field=FloatField())
    return found.annotate(key=rank + Coalesce(F("largest"), Value(0.0))).order_by("-key", "-id")


def behind(found: "QuerySet[Finding]", last: FindingPlace) -> "QuerySet[Finding]":
    """Findings after `last`."""
    further: Any = Q(key__lt=last.key) | Q(key=last.key, id__lt=last.id)
    return found.filter(further)


def ahead(found: "QuerySet[Finding]", first: FindingPlace) -> "QuerySet[Finding]":
    """Findings before `first`, the nearest first."""
    further: Any = Q(key__gt=first.key) | Q(key=first.key, id__gt=first.id)
    nearest: QuerySet[Finding] = cast("Any", found.filter(further)).order_by("key", "id")
    return nearest
