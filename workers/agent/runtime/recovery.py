"""Ends the current job, or that of a process that died before ending it."""

import logging
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

import msgspec

from workers.agent.measure.clock import iso_now
from workers.agent.runtime import messages
from workers.agent.runtime.journal import Journal, JournalEntry, Leftover, is_still
from workers.agent.runtime.spool import Spool
from workers.agent.tools.process import stop_group
from workers.agent.tools.program import RESTORE_TIMEOUT
from workers.protocol import wire

log = logging.getLogger("splashboard.agent.recovery")
REASON = "the agent stopped without notice"


def finish(
    spool: Spool,
    journal: Journal,
    entry: JournalEntry,
    *,
    outcome: str,
    reason: str,
    skipped: Sequence[wire.SkippedRun] = (),
    is_permanent: bool = False,
) -> int | None:
    """Ends an open run as failed, journals remaining tables, then reports the job's end.

    Returns the number of the job's last message; None when `outcome` is empty: the job is no longer this agent's to
    report. Raises OSError; may then be called again.
    """
    run = entry.run
    if run:
        output = Path(run.output)
        known = {artifact.name for artifact in run.artifacts}
        is_left = run.artifact and run.artifact not in known and output.is_file()
        if is_left and not messages.refusal(run.artifact, output.stat().st_size):
            messages.put_artifact(spool, journal, entry, run, name=run.artifact, content=output.read_bytes())
        # The spool may hold a batch not yet counted in the journal.
        run.batches = max([run.batches, *(_sequence(path) + 1 for path in _batch_paths(spool, run.uid))])
        end = wire.RunEndMessage(outcome="failed", reason=reason, ended_at=iso_now(), batches=run.batches)
        messages.put_run_end(spool, journal, entry, run, end)
        output.unlink(missing_ok=True)
    if entry.workspace:
        journal.add_leftover(Leftover(system=entry.system, workspace=entry.workspace))
        entry.workspace = None
        journal.write(entry)
    number = None
    if outcome:
        number = messages.put_job_end(
            spool, entry, outcome=outcome, reason=reason, skipped=skipped, is_permanent=is_permanent
        )
    journal.clear()
    return number


def recover(spool: Spool, journal: Journal, work: Path) -> None:
    """At start: ends what the previous process left open. Raises OSError."""
    try:
        entry = journal.read()
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        log.error("the journal is damaged (%s); it is kept as %s", error, journal.quarantine())
        entry = None
    if entry:
        log.warning("job %s was under way when the agent died; ending it", entry.job)
        process = entry.process
        if process and is_still(process):
            stop_group(process.pid, is_gone=lambda: not is_still(process))
        if entry.restore:
            _restore(entry.restore)
        finish(spool, journal, entry, outcome="failed", reason=REASON)
    for left in work.iterdir():
        if left.is_dir():
            shutil.rmtree(left)
        else:
            left.unlink()


def _restore(argv: Sequence[str]) -> None:
    """Puts servers right that the job's program left changed. A failure is logged."""
    try:
        done = subprocess.run(
            argv, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=RESTORE_TIMEOUT, check=False
        )
    except (OSError, subprocess.SubprocessError) as error:
        log.error("servers may be left as the job changed them: %s", error)
        return
    if done.returncode:
        reason = (done.stdout + done.stderr).strip().rpartition("\n")[2]
        log.error("servers may be left as the job changed them: %s", reason or f"exit code {done.returncode}")


def _batch_paths(spool: Spool, run: str) -> list[str]:
    return [spool.read(entry).path for entry in spool.of_run(run, "batch")]


def _sequence(path: str) -> int:
    return int(path.rpartition("/")[2])
