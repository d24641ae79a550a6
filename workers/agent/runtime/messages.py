"""Spooled messages of a job: all of one attempt in one group, so that they arrive in order."""

from collections.abc import Sequence

import msgspec

from workers.agent.runtime.journal import Journal, JournalEntry, OpenRun
from workers.agent.runtime.spool import Spool, SpoolMessage
from workers.protocol import wire
from workers.protocol.secrets import text_without_secrets, without_secrets_in

JSON = {"Content-Type": "application/json"}
TEXT = "text/plain"
MOST_BYTES = 64 * 1024 * 1024  # of a file, as in the server's limits


def group_of(entry: JournalEntry) -> str:
    return f"job-{entry.job}-{entry.attempt}"


def open_run(entry: JournalEntry, run: OpenRun, message: wire.RunMessage) -> SpoolMessage:
    return _of_run(entry, run, kind="run", method="PUT", path="", headers=JSON, body=wire.to_json(message))


def batch(entry: JournalEntry, run: OpenRun, sequence: int, payload: bytes) -> SpoolMessage:
    headers = {"Content-Type": "application/gzip", "X-Checksum": wire.checksum(payload)}
    return _of_run(entry, run, kind="batch", method="PUT", path=f"/batches/{sequence}", headers=headers, body=payload)


def refusal(name: str, size: int) -> str:
    """Why the server would not take a file of `size` bytes; empty: it would."""
    if size <= MOST_BYTES:
        return ""
    return (
        f"{name} has {size:,} bytes, and the server takes at most {MOST_BYTES:,}: "
        "give a shorter duration or a lower rate"
    )


def put_artifact(
    spool: Spool,
    journal: Journal,
    entry: JournalEntry,
    run: OpenRun,
    *,
    name: str,
    content: bytes,
    media_type: str = TEXT,
) -> None:
    """A text without secrets that it may show. Raises OSError."""
    content = without_secrets_in(content) if media_type == TEXT else content
    checksum = wire.checksum(content)

    def note() -> None:
        run.artifacts.append(wire.ArtifactMessage(name=name, sha256=checksum, size=len(content)))
        journal.write(entry)

    headers = {"Content-Type": media_type, "X-Checksum": checksum}
    message = _of_run(
        entry, run, kind="artifact", method="PUT", path=f"/artifacts/{name}", headers=headers, body=content
    )
    spool.put(message, before_visible=note)


def put_run_end(spool: Spool, journal: Journal, entry: JournalEntry, run: OpenRun, message: wire.RunEndMessage) -> None:
    """Ends the run with its artifacts. Raises OSError."""
    reason = text_without_secrets(message.reason)
    body = wire.to_json(msgspec.structs.replace(message, reason=reason, artifacts=run.artifacts))

    def note() -> None:
        entry.run = None
        journal.write(entry)

    spool.put(
        _of_run(entry, run, kind="run-end", method="POST", path="/end", headers=JSON, body=body), before_visible=note
    )


def put_job_end(
    spool: Spool,
    entry: JournalEntry,
    *,
    outcome: str,
    reason: str,
    skipped: Sequence[wire.SkippedRun] = (),
    is_permanent: bool = False,
) -> int:
    """Number of the spooled message. Raises OSError."""
    end = wire.JobEndMessage(
        attempt=entry.attempt,
        outcome=outcome,
        reason=text_without_secrets(reason),
        skipped=list(skipped),
        is_permanent=is_permanent,
    )
    body = wire.to_json(end)
    return spool.put(
        SpoolMessage(
            group=group_of(entry),
            kind="job-end",
            method="POST",
            path=f"agent/jobs/{entry.job}/end",
            headers=JSON,
            body=body,
        )
    )


def _of_run(
    entry: JournalEntry, run: OpenRun, *, kind: str, method: str, path: str, headers: dict[str, str], body: bytes
) -> SpoolMessage:
    return SpoolMessage(
        group=group_of(entry),
        kind=kind,
        method=method,
        path=f"agent/runs/{run.uid}{path}",
        headers=headers,
        body=body,
        run=run.uid,
    )
