"""Campaigns: starting one from its file and following it to its end."""

from __future__ import annotations

import time
from typing import Any, Callable

from splashboard import files, progress, shapes
from splashboard.failures import Exit, Failure, RequestRefused
from splashboard.server import Server, printable

LOOK_EVERY = 3.0  # s
# After the last job a campaign's runs may still be in transit to the store.
STORED_WITHIN = 120.0  # s
OUTAGE = 600.0  # s without the server that `wait` tolerates
UNFINISHED = ("waiting", "running")


class TooSlow(Failure):
    code = Exit.CANNOT_TELL


def start(server: Server, *, file: str) -> dict[str, Any]:
    """Raises Misuse, RequestRefused (its fields name the file), ServerUnreachable."""
    content = files.read(file)
    try:
        answer = server.send("campaigns/files/", content, kind="application/yaml", repeatable=False)
    except RequestRefused as error:
        if not error.fields:
            raise
        problems = "\n".join(f"{file}: {sentence}" for sentence in error.fields)
        raise RequestRefused(f"nothing was started\n{problems}", status=error.status) from error
    document: dict[str, Any] = answer.json(shapes.CAMPAIGN)
    return document


def wait(
    server: Server,
    *,
    campaign: int,
    shown: progress.ProgressLine,
    timeout: float | None = None,
    clock: Callable[[], float] = time.monotonic,
    sleep: Callable[[float], None] = time.sleep,
) -> dict[str, Any]:
    """Returns the campaign once all of its jobs have ended and its runs are stored, with any outcome.

    `timeout`: s; None: unlimited. Raises TooSlow, RequestRefused, ServerUnreachable.
    """
    began, ended = clock(), None
    drawn = False
    try:
        while True:
            left = None if timeout is None else began + timeout - clock()
            server.timeout = OUTAGE if left is None else max(1.0, min(OUTAGE, left))
            found: dict[str, Any] = server.read(f"campaigns/{campaign}/").json(shapes.CAMPAIGN)
            shown.show(found["progress"], [printable(each) for each in found["obstacles"]])
            drawn = True
            if found["progress"]["state"] not in UNFINISHED:
                ended = clock() if ended is None else ended
                if _is_stored(found) or clock() - ended > STORED_WITHIN:
                    return found
            if timeout is not None and clock() >= began + timeout:
                words = progress.words_of(found["progress"])
                raise TooSlow(f"campaign {campaign} has not ended after {timeout:g} s: {words}")
            sleep(LOOK_EVERY if timeout is None else min(LOOK_EVERY, max(0.0, began + timeout - clock())))
    finally:
        if drawn:
            shown.end()


def _is_stored(found: dict[str, Any]) -> bool:
    return all(run["state"] == "sealed" for job in found["jobs"] for run in job["runs"])


def is_whole(found: dict[str, Any]) -> bool:
    """Whether each job of an ended campaign succeeded."""
    return found["progress"]["state"] == "done" and not found["progress"].get("jobs_cancelled")


def sentences(found: dict[str, Any]) -> list[str]:
    """The campaign's outcome, with the reason of each failed or cancelled job."""
    count = progress.words_of(found["progress"])
    texts = [f"Campaign {found['id']}, {printable(found['name'])!r}: {count}", f"  {found['address']}"]
    return texts + [
        f"  job {job['id']}, {job['workload']['name']} on {job['system']['slug']}: {job['state']}"
        + (f": {printable(job['reason'])}" if job["reason"] else "")
        for job in found["jobs"]
        if job["state"] in ("failed", "cancelled")
    ]
