"""Stores the usual upload in one statement: a batch of an open run whose job the agent is running.

Most requests are of this kind.
"""

from datetime import datetime
from uuid import UUID

from apps.accounts.credentials import digest_of
from apps.core import binary_cursor
from apps.dispatch.jobs.agents import SEEN_WRITTEN_EVERY
from apps.runs.api import accept
from workers.protocol import wire

# While an attempt runs, the agent that holds its job is the one it was planned for. Same lock as ingest.accept_batch.
_STORE = """
WITH run AS (
  SELECT r.id FROM runs_run r
  JOIN dispatch_jobrun of_job ON of_job.run_id = r.id
  JOIN dispatch_job job ON job.id = of_job.job_id
  JOIN dispatch_agent agent ON agent.id = job.agent_id
  WHERE r.uid = %(uid)s AND r.state = 'open' AND job.state = 'running' AND job.attempt = of_job.attempt
    AND agent.digest = %(digest)s AND agent.revoked_at IS NULL AND agent.last_seen_at >= %(seen_after)s
  FOR NO KEY UPDATE OF r
)
INSERT INTO runs_batch (run_id, sequence, checksum, payload, received_at)
SELECT id, %(sequence)s, %(checksum)s, %(payload)b, %(now)s FROM run
ON CONFLICT (run_id, sequence) DO NOTHING RETURNING run_id
"""


def store(*, secret: str, uid: UUID, sequence: int, checksum: str, payload: bytes, now: datetime) -> int | None:
    """Id of the run; None: nothing was stored, and the regular path must handle (or reject) the batch."""
    if len(payload) > accept.MAX_BATCH or not 0 <= sequence < 2**31 or wire.checksum(payload) != checksum:
        return None
    asked = {
        "uid": uid,
        "digest": digest_of(secret),
        "sequence": sequence,
        "checksum": checksum,
        "payload": payload,
        "now": now,
        "seen_after": now - SEEN_WRITTEN_EVERY,
    }
    found = binary_cursor.fetch(_STORE, asked, prepare=True)
    return int(found[0][0]) if found else None
