"""Compares a release with its predecessor: every workload at every load level, one table."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime

from django.utils import timezone

from apps.catalog.models import HardwareClass, Release
from apps.comparison.pure import DISCOVERY_RATE
from apps.core.problems import FieldProblem, Invalid
from apps.regressions import thresholds
from apps.regressions.releases import rows as releases_rows
from apps.regressions.releases import stored_checks
from apps.regressions.releases.pairs import MEASURED, Lines, Pair, Where, lines
from apps.regressions.releases.rows import ReleaseWorkload
from apps.regressions.releases.values import TOLERANCE, CheckRow, ReleaseCheck, Result, RowVerdict, SystemPair, answer

MOST_NAMED = 4


def check(
    release: Release,
    hardware_class: HardwareClass,
    baseline: Release | None = None,
    *,
    tolerance: float = TOLERANCE,
    allow_missing: bool = False,
    now: datetime | None = None,
) -> ReleaseCheck:
    """`release` on `hardware_class` compared with `baseline` (None: the newest earlier release with runs there).
    Queries: constant in the numbers of runs, workloads and load levels. `tolerance`, `allow_missing`: as in `answer`.

    Raises Invalid naming `baseline` if it is the release itself or of another platform."""
    now = now or timezone.now()
    _refuse(release, baseline)
    found = lines(release, hardware_class, baseline)
    both = [system for pair in found.pairs for system in (pair.baseline, pair.system)]
    where = releases_rows.ran([*both, *found.lost])
    judged = releases_rows.judge(found.pairs, where)
    rows = [*releases_rows.rows(judged, limits=thresholds.every()), *releases_rows.lost(found.lost, where)]
    rows.sort(key=_significance)
    version = found.baseline.version if found.baseline else ""
    compared = ReleaseCheck(
        platform_id=release.platform_id,
        platform=release.platform.slug,
        platform_name=release.platform.name,
        release_id=release.pk,
        release=release.version,
        baseline_id=found.baseline.pk if found.baseline else None,
        baseline=version,
        hardware_id=hardware_class.pk,
        hardware=hardware_class.slug,
        hardware_name=hardware_class.name,
        lines=tuple(_line(pair) for pair in found.pairs),
        rows=tuple(rows),
        tests=releases_rows.tests(judged),
        result=Result.CANNOT_TELL,
        why=(),
        notes=tuple(_notes(found, where, judged, rows)),
        tolerance=tolerance,
        checked_at=now,
    )
    compared = stored_checks.current([compared])[0]
    result, why = answer(compared.rows, baseline=version, tolerance=tolerance, allow_missing=allow_missing)
    return replace(compared, result=result, why=why)


def changed_rows(found: ReleaseCheck, *, synthetic: bool = False) -> Iterator[CheckRow]:
    """The rows that become findings: those that differ. `synthetic`: include rows of synthetic and example runs."""
    for row in found.rows:
        is_change = row.verdict in (RowVerdict.WORSE, RowVerdict.BETTER)
        if is_change and (synthetic or set(row.origins) <= set(MEASURED)):
            yield row


def _refuse(release: Release, baseline: Release | None) -> None:
    if baseline is None:
        return
    problem = ""
    if baseline.pk == release.pk:
        problem = f"{release} is the release itself"
    elif baseline.platform_id != release.platform_id:
        problem = f"{baseline} is a release of another platform"
    if problem:
        raise Invalid([FieldProblem("baseline", problem, "choose another release, or leave it out")])


def _line(pair: Pair) -> SystemPair:
    system, baseline = pair.system, pair.baseline
    return SystemPair(system.slug, system.short_name, baseline.slug, baseline.short_name, pair.differs)


def _significance(row: CheckRow) -> tuple[int, float, str, str, int]:
    verdicts = list(RowVerdict)
    return verdicts.index(row.verdict), 1.0 if row.p is None else row.p, row.tool, row.workload, row.threads


def _notes(
    found: Lines, where: Mapping[int, set[Where]], judged: Sequence[ReleaseWorkload], rows: Sequence[CheckRow]
) -> Iterator[str]:
    """Sentences."""
    for pair in found.pairs:
        if pair.differs:
            yield (
                f"{pair.system.short_name} is compared with {pair.baseline.short_name}, the only candidate, despite "
                f"other settings: {pair.differs}."
            )
    for system in found.alone:
        yield f"{system.short_name} has no matching system in {found.baseline}: none has its settings."
    for system in found.unused:
        yield f"{system.short_name} is not compared: others of {found.baseline} with its settings ran the same."
    against: dict[int, set[Where]] = defaultdict(set)
    for pair in found.pairs:
        against[pair.system.pk] |= where[pair.baseline.pk]
    new = sum(len(where[system] - ran) for system, ran in against.items())
    if new:
        what = "1 workload at a load level" if new == 1 else f"{new} workloads at load levels"
        yield f"Left out: {what} not run by the baseline."
    shown = {(row.baseline_system_id, row.workload_id) for row in rows}
    without = [each for each in judged if (each.pair.baseline.pk, each.workload.pk) not in shown]
    if without:
        named = ", ".join(dict.fromkeys(each.workload.name for each in without[:MOST_NAMED]))
        more = f" and {len(without) - MOST_NAMED} more" if len(without) > MOST_NAMED else ""
        yield f"Left out, since the baseline's runs have no value of the headline metric: {named}{more}."
    small = sum(
        row.verdict is RowVerdict.UNCHANGED and bool(row.worst) and row.p is not None and row.p <= DISCOVERY_RATE
        for row in rows
    )
    if small:
        yield f"{small} row{' is' if small == 1 else 's are'} worse by less than the threshold: shown as unchanged."
    synthetic = {origin for row in rows for origin in row.origins} - set(MEASURED)
    if synthetic:
        yield "Generated and example runs are included here."
