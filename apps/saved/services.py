"""Saved comparisons: snapshots that are independent of later changes to runs, and their comparison with the present."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Annotated, Any

from django.core.exceptions import PermissionDenied
from django.db import IntegrityError, transaction
from django.db.models import Q
from django.utils.text import slugify

from apps.accounts import shared_links
from apps.accounts.models import User
from apps.comparison.api import UnknownSide, claims, compare, cost
from apps.comparison.models import SavedComparison, Snapshot
from apps.comparison.pure import Comparison, Section, serialisation, with_tones
from apps.core.answers import Hidden, Name, Shown, component
from apps.core.audit.api import Action, record
from apps.core.problems import FieldProblem, Invalid
from apps.saved.changes import changes, state_hash
from apps.saved.sections import READINGS
from apps.saved.staleness import agreement_changes, cost_changes
from apps.use_method.api import limits

# The form of Snapshot.content: {"comparison": …, "parts": {key of a section: …}}, made by serialisation.to_json.
CONTENT_VERSION = 1
LONGEST_TITLE, LONGEST_NOTE = 200, 20_000
LONGEST_SLUG = 80
MOST_JUDGED = 100  # runs whose limits are judged for a snapshot
# Parts with data beyond the comparison's own runs, with the function that describes their changes.
ChangesOf = Callable[[Any, Any, Mapping[str, str]], list[str]]
COMPARED_PARTS: tuple[tuple[Section[Any], ChangesOf], ...] = (
    (cost.SECTION, cost_changes),
    (claims.SECTION, agreement_changes),
)


class NoSuchSnapshot(UnknownSide):
    """No saved comparison, or no snapshot, of this name."""


# Query parameters of an address of Compare: name -> values. QUESTION: those that determine the result, not the view.
Query = Mapping[str, Sequence[str]]
QUESTION = ("side", "workload", "campaign", "runs", "acknowledged")


@component("Snapshot")
@dataclass(frozen=True)
class SnapshotRow:
    """One snapshot without its content."""

    number: int
    made_at: datetime
    made_by: str
    runs: Annotated[int, "that it rests on"]


@dataclass(frozen=True)
class SavedRow:
    """A saved comparison in a list; `runs`: number of runs in its newest snapshot."""

    slug: str
    title: str
    note: str
    author: str
    created_at: datetime
    snapshots: Annotated[int, "how many; the newest is shown"]
    made_at: Annotated[datetime, "when the newest snapshot was made"]
    runs: Annotated[int, "that the newest snapshot rests on"]


@dataclass(frozen=True)
class Saved:
    """A saved comparison with one of its snapshots. `comparison` is None if the snapshot's content does not have the
    current form: then `problem` is the reason, and only `content` is available."""

    slug: str
    title: str
    note: str
    author: str
    created_at: datetime
    query: Annotated[dict[str, list[str]], "what it asks, as an address of Compare"]
    snapshots: Annotated[tuple[SnapshotRow, ...], "the newest first"]
    snapshot: Annotated[SnapshotRow, "the one that `comparison` is"]
    state_hash: Hidden[str]
    content: Hidden[dict[str, Any]]
    comparison: Annotated[Comparison | None, "as it was seen; null: kept in an older form"]
    problem: Annotated[str, "why `comparison` is null; else empty"]

    @property
    def unread(
        self,
    ) -> Annotated[
        Shown[dict[str, Any] | None],
        Name("content"),
        "null where `comparison` is given; else all that was kept, in the form of the program that kept it",
    ]:
        return self.content if self.comparison is None else None

    @property
    def is_newest(self) -> bool:
        return self.snapshot.number == self.snapshots[0].number

    @property
    def parts(self) -> dict[str, Any]:
        return dict(self.content.get("parts", {}))


@dataclass(frozen=True)
class SnapshotState:
    """A snapshot compared with the present result of its query. `changes` are sentences; empty if it is up to date."""

    out_of_date: Annotated[bool, "the same question would be answered otherwise now"]
    changes: Annotated[tuple[str, ...], "what is different now, in sentences"]


# ---------------------------------------------------------------- writing


def save(*, query: Query, title: str, note: str, by: User) -> SavedComparison:
    """Save the query's present result as the first snapshot. Raises Invalid (UnknownSide) as compare.compare does, and
    for an invalid title or note."""
    _check(title, note)
    asked = {name: list(values) for name, values in query.items() if values}
    comparison = _compared(asked)
    _check_view(asked, comparison)
    with transaction.atomic():
        row = _create(asked, title=title.strip(), note=note.strip(), by=by)
        _add_snapshot(row, comparison, number=1, by=by)
        record(Action.COMPARISON_SAVE, f"saved comparison {row.slug}", after=row.title)
    return row


def _create(query: dict[str, list[str]], *, title: str, note: str, by: User) -> SavedComparison:
    """Retries with the next free address if another transaction takes the same one."""
    while True:
        try:
            with transaction.atomic():
                return SavedComparison.objects.create(
                    slug=_free_slug(title), title=title, note=note, query=query, author=by
                )
        except IntegrityError as error:
            if "slug" not in str(error):
                raise


def refresh(*, slug: str, by: User) -> tuple[int, bool]:
    """(number of the newest snapshot, whether it was made now): made only if the result changed, or the newest snapshot
    has an older format. Raises NoSuchSnapshot, and Invalid if the query has no result any more."""
    with transaction.atomic():
        # Serialised by the row lock: concurrent refreshes make one snapshot.
        row = SavedComparison.objects.select_for_update().filter(slug=slug).first()
        if row is None:
            raise _no_such(slug)
        comparison = _compared(row.query)
        newest = row.snapshots.order_by("-number").first()
        if newest is not None and _is_current(newest, comparison):
            return newest.number, False
        number = newest.number + 1 if newest else 1
        _add_snapshot(row, comparison, number=number, by=by)
        record(Action.COMPARISON_REFRESH, f"saved comparison {slug}", after=f"snapshot {number}")
    return number, True


def _is_current(snapshot: Snapshot, now: Comparison) -> bool:
    """Whether the snapshot equals the present result, in the current format, and is whole."""
    if snapshot.state_hash != state_hash(now) or _comparison_of(snapshot)[0] is None:
        return False
    parts = snapshot.content.get("parts", {})
    # Of some runs the limits were not judged yet: more of them are by now.
    if (parts.get(limits.SECTION.name) or {}).get("pending"):
        return False
    return len(_stored_parts(parts)) == len(COMPARED_PARTS) and not _parts_changed(parts, now)


@transaction.atomic
def describe(*, slug: str, title: str, note: str) -> None:
    """Change title and note; the address is unchanged. Raises Invalid, NoSuchSnapshot."""
    _check(title, note)
    row = SavedComparison.objects.select_for_update().filter(slug=slug).first()
    if row is None:
        raise _no_such(slug)
    before, row.title, row.note = row.title, title.strip(), note.strip()
    row.save(update_fields=["title", "note"])
    record(Action.COMPARISON_DESCRIBE, f"saved comparison {slug}", before=before, after=row.title)


@transaction.atomic
def delete(*, slug: str, path: str, by: User, now: datetime) -> None:
    """Delete it with its snapshots and the shared links of its page. Raises NoSuchSnapshot, PermissionDenied."""
    row = SavedComparison.objects.select_for_update(of=("self",)).select_related("author").filter(slug=slug).first()
    if row is None:
        raise _no_such(slug)
    if not may_delete(row.author.get_username(), by):
        raise PermissionDenied(f"{row.author.get_username()} saved it: ask them or an administrator to delete it.")
    shared_links.withdraw_of(view="saved", path=path, now=now)
    record(Action.COMPARISON_DELETE, f"saved comparison {slug}", before=row.title)
    row.delete()


def may_delete(author: str, by: User) -> bool:
    return by.is_administrator or by.get_username() == author


def _check(title: str, note: str) -> None:
    errors = []
    if not title.strip():
        errors.append(FieldProblem("title", "is empty", "state the question that the comparison answers"))
    if len(title) > LONGEST_TITLE:
        errors.append(FieldProblem("title", f"has {len(title):,} characters", f"use at most {LONGEST_TITLE}"))
    if len(note) > LONGEST_NOTE:
        errors.append(FieldProblem("note", f"has {len(note):,} characters", f"use at most {LONGEST_NOTE:,}"))
    errors += [
        FieldProblem(name, "contains NUL, which cannot be stored")
        for name, text in (("title", title), ("note", note))
        if "\0" in text
    ]
    if errors:
        raise Invalid(errors)


def _check_view(query: Query, comparison: Comparison) -> None:
    """Check the parameters of the view, which the comparison itself does not validate."""
    levels = {level.key for level in comparison.levels}
    if unknown := [text for text in query.get("level", ()) if text not in levels]:
        raise Invalid([FieldProblem("level", f"no side ran at {unknown[0][:40]!r}", "choose one of the levels")])
    if any("\0" in text for values in query.values() for text in values):
        raise Invalid([FieldProblem("", "the address contains NUL, which cannot be stored")])


def _add_snapshot(row: SavedComparison, comparison: Comparison, *, number: int, by: User) -> None:
    limits.panels_of([run.id for run in comparison.counted], at_once=MOST_JUDGED)
    parts: dict[str, Any] = {}
    for reading in READINGS:
        parts |= reading.to_json(comparison)
    Snapshot.objects.create(
        comparison=row,
        number=number,
        content={"comparison": serialisation.to_json(comparison), "parts": parts},
        content_version=CONTENT_VERSION,
        runs=[run.id for run in comparison.counted],
        state_hash=state_hash(comparison),
        made_by=by,
    )


def _free_slug(title: str) -> str:
    """Slug from the title, with a number if it is taken."""
    wanted = slugify(title)[:LONGEST_SLUG].strip("-") or "comparison"
    taken = {"save"} | set(
        SavedComparison.objects.filter(Q(slug=wanted) | Q(slug__startswith=f"{wanted}-")).values_list("slug", flat=True)
    )
    number = 2
    slug = wanted
    while slug in taken:
        slug, number = f"{wanted}-{number}", number + 1
    return slug


# ---------------------------------------------------------------- reading


def rows(*, words: Sequence[str] = (), limit: int, before: int | None = None) -> list[tuple[int, SavedRow]]:
    """(id, row), the newest first, with all `words` in title, note, address or author; `before`: an id. Two
    queries."""
    found = SavedComparison.objects.select_related("author")
    for word in words:
        matches = Q(title__icontains=word) | Q(note__icontains=word) | Q(slug__icontains=word)
        found = found.filter(matches | Q(author__username__icontains=word))
    if before is not None:
        found = found.filter(pk__lt=before)
    chosen = list(found[:limit])
    made = Snapshot.objects.filter(comparison__in=chosen).order_by("number").defer("content")
    newest = {snapshot.comparison_id: snapshot for snapshot in made}
    return [
        (
            row.pk,
            SavedRow(
                slug=row.slug,
                title=row.title,
                note=row.note,
                author=row.author.get_username(),
                created_at=row.created_at,
                snapshots=newest[row.pk].number,
                made_at=newest[row.pk].made_at,
                runs=len(newest[row.pk].runs),
            ),
        )
        for row in chosen
    ]


def load(slug: str, number: int | None = None) -> Saved:
    """With snapshot `number`, None: the newest. Three queries. Raises NoSuchSnapshot."""
    row = SavedComparison.objects.select_related("author").filter(slug=slug).first()
    if row is None:
        raise _no_such(slug)
    snapshots = list(row.snapshots.select_related("made_by").defer("content").order_by("-number"))
    chosen = next((each for each in snapshots if number is None or each.number == number), None)
    if chosen is None:
        problem = FieldProblem("snapshot", f"{row.title} has no snapshot {number}", f"use 1 to {snapshots[0].number}")
        raise NoSuchSnapshot([problem])
    comparison, problem_text = _comparison_of(chosen)
    return Saved(
        slug=row.slug,
        title=row.title,
        note=row.note,
        author=row.author.get_username(),
        created_at=row.created_at,
        query=row.query,
        snapshots=tuple(_snapshot_row(each) for each in snapshots),
        snapshot=_snapshot_row(chosen),
        state_hash=chosen.state_hash,
        content=chosen.content,
        comparison=comparison,
        problem=problem_text,
    )


def standing(saved: Saved) -> SnapshotState:
    """Compare with the present result of the same query, including its parts. A constant number of queries."""
    try:
        now = _compared(saved.query)
    except Invalid as error:
        reasons = "; ".join(problem.sentence() for problem in error.errors)
        return SnapshotState(True, (f"The query has no result any more: {reasons}.",))
    same = state_hash(now) == saved.state_hash
    if saved.comparison is None:
        return SnapshotState(
            not same, () if same else ("Changes cannot be listed: this snapshot has an older format.",)
        )
    sentences = () if same else changes(saved.comparison, now) or ("The same runs are analysed by other rules now.",)
    sentences += tuple(_parts_changed(saved.parts, now))
    return SnapshotState(bool(sentences), sentences)


def _parts_changed(kept: Mapping[str, Any], now: Comparison) -> list[str]:
    """Sentences about changed parts that the snapshot contains; the page itself shows which ones it lacks."""
    names = {key: side.name for side in now.sides for key in (side.system, side.slug)}
    return [
        text
        for section, changes_of, seen in _stored_parts(kept)
        for text in changes_of(seen, section.read(now, None), names)
    ]


def _stored_parts(kept: Mapping[str, Any]) -> list[tuple[Section[Any], ChangesOf, Any]]:
    """Stored parts of COMPARED_PARTS, if readable."""
    found = []
    for section, changes_of in COMPARED_PARTS:
        try:
            found.append((section, changes_of, section.from_json(kept[section.key(None)])))
        except (KeyError, serialisation.Outdated):
            continue
    return found


def _comparison_of(snapshot: Snapshot) -> tuple[Comparison | None, str]:
    if snapshot.content_version == CONTENT_VERSION:
        try:
            comparison = serialisation.from_json(snapshot.content["comparison"], Comparison)
            # Tones are no part of what was measured: older snapshots lack them.
            return replace(comparison, sides=with_tones(comparison.sides)), ""
        except serialisation.Outdated as error:
            return None, str(error)
    return None, f"it is of form {snapshot.content_version}, this program reads form {CONTENT_VERSION}"


def _snapshot_row(snapshot: Snapshot) -> SnapshotRow:
    return SnapshotRow(snapshot.number, snapshot.made_at, snapshot.made_by.get_username(), len(snapshot.runs))


def _compared(query: Query) -> Comparison:
    """The query's present result. Raises Invalid."""
    workload = _number(query, "workload")
    if workload is None:
        raise Invalid([FieldProblem("workload", "is missing", "name the workload under which the sides ran")])
    runs = [int(run) for text in query.get("runs", ()) for run in text.split(",") if run.isdecimal()]
    comparison = compare.compare(
        sides=list(query.get("side", ())),
        workload_id=workload,
        campaign=_number(query, "campaign"),
        runs=runs or None,
    )
    if not comparison.counted:
        raise Invalid([FieldProblem("", "none of these sides has a run that counts", "choose other sides")])
    return comparison


def _number(query: Query, name: str) -> int | None:
    texts = query.get(name, ())
    return int(texts[-1]) if texts and texts[-1].isdecimal() else None


def _no_such(slug: str) -> NoSuchSnapshot:
    return NoSuchSnapshot([FieldProblem("", f"there is no saved comparison {slug!r}")])
