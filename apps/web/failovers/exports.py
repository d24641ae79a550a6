"""Failovers as Markdown and CSV, trial by trial as on the page."""

from collections.abc import Callable

from apps.comparison.api import FailoverResults, FailoverTrial, TrialGroup
from apps.comparison.pure import COUNTS, PHASES, RejoinTransfer
from apps.core import tabular
from apps.core.tabular import escaped
from apps.web.failovers import wording

# Digits of a second: 0.1 ms, to which the agent rounds.
RESOLVED = 4
COLUMNS = (
    *("platform", "system", "release", "fault", "load", "run", "started_at", "origin", "outcome", "counts", "state"),
    *("outage_s", "recovered", "watched_s", "detect_s", "promote_s", "client_recovered_s", "baseline_s", "rejoin_s"),
    *("rejoin_outage_s", "transfer", "transfer_method", "transfer_file_bytes"),
    *("proxy_s", "lost", "errant_rows", "duplicated", "failed_present", "stale_reads", "errors", "address"),
)


def markdown(found: FailoverResults, *, link: str) -> str:
    """The answers, the trials in one table, published figures, with a link to the page."""
    rows = [_row(group, trial) for group in found.groups for trial in group.trials]
    heads = ["Platform", "System", "Fault", "Load", "Run", "Outage, s"]
    heads += [f"{name}, s" for _, _, name in PHASES.values()] + ["Rejoin, s", "Downtime of that, s"]
    heads += ["Lost", "Old source only", "Twice", "Failed, yet present"]
    heads.append("Stale reads")
    lines = ["**Failovers**", ""]
    for each in found.verdicts:
        title = f"{each.group.fault_name} ({each.load})"
        lines.append(f"- {escaped(title)}: {escaped(wording.verdict(each))}.")
    for group in found.groups:
        title = f"{group.platform} ({group.system_name}), {group.fault_name}"
        lines.append(
            f"- {escaped(title)}: {escaped(wording.answer(group))}. {escaped(' '.join(wording.shares(group)))}"
        )
    lines += ["", tabular.markdown(heads, rows, numbers=len(heads) - 4), ""]
    lines += [
        f"- published, not measured here: {escaped(figure.sentence)}; {escaped(figure.conditions_text)} "
        f"({escaped(figure.article.by)}, {figure.article.published})"
        for figure in found.stated
    ]
    lines += ["", f"Phases are seconds after the fault. {link}"]
    return "\n".join(lines) + "\n"


def _row(group: TrialGroup, trial: FailoverTrial) -> list[str]:
    course = trial.course
    phases = [_seconds(course.reached.get(key)) for key in PHASES]
    counts = [
        "not read" if course.counts[key] is None else f"{course.counts[key]}" for key in COUNTS if key != "errors"
    ]
    return [
        *(group.platform, group.system_name, group.fault_name, group.load, str(trial.run)),
        *(wording.outage(course), *phases, _seconds(course.rejoin), _seconds(course.rejoin_outage), *counts),
    ]


def _transfer(found: RejoinTransfer | None) -> tuple[str, str, int | None]:
    return (found.kind, found.method, found.file_bytes) if found else ("", "", None)


def _seconds(value: float | None) -> str:
    return "–" if value is None else f"{value:.2f}"


def _resolved(value: float | None) -> float | None:
    """To what the clock of the attempts resolves: a difference of two moments has more digits."""
    return None if value is None else round(value, RESOLVED)


def comma_separated(found: FailoverResults, *, link: Callable[[FailoverTrial], str]) -> str:
    """One line per trial; an empty field: not reached, not reported or not read back."""
    return tabular.comma_separated(
        COLUMNS,
        (
            [
                *(group.platform_slug, group.system, group.release, group.fault, group.load, str(trial.run)),
                *(trial.started_at.isoformat(), trial.origin, trial.outcome, trial.doubt or "yes"),
                *(wording.state(trial.course), _resolved(trial.course.outage)),
                *("yes" if trial.course.recovered else "no", _resolved(trial.course.watched)),
                *(_resolved(trial.course.reached.get(key)) for key in PHASES),
                *(_resolved(trial.course.rejoin), _resolved(trial.course.rejoin_outage)),
                *(*_transfer(trial.course.transfer), _resolved(trial.course.proxy)),
                *(*(trial.course.counts[key] for key in COUNTS), link(trial)),
            ]
            for group in found.groups
            for trial in group.trials
        ),
    )
