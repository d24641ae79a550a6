"""Bounds of what is accepted from outside, checked before work is done on it. docs/reference/limits.md lists them.

An installation's own data stay far below: a bound only stops what would cost minutes, gigabytes or the catalog.
"""

from datetime import UTC, datetime
from typing import Any

KIB, MIB = 1024, 1024 * 1024

# Bytes of a body; config/serving adds those of a sender whom nobody knows, and how long a body may take.
BATCH = 8 * MIB
MESSAGE = 4 * MIB  # of an agent: a run's holds every variable of every node
HEALTH = 64 * KIB  # of an agent's report, as JSON
JSON = 2 * MIB
ARTIFACT = 64 * MIB
ATTACHED = 16 * MIB
AROUND_A_FILE = 4 * MIB  # of a form: the description and the multipart headers
ATTACHED_FILES = 20  # of a run
JSON_DEPTH = 20
YAML = 256 * KIB  # a campaign, an article: a MiB takes 5 s

# Requests to the API a minute: of a token or a person; of an address that sends no valid credentials; of an agent.
REQUESTS = 3_000
UNKNOWN_REQUESTS = 1_200
AGENT_REQUESTS = 6_000
# Batches of an agent a minute, for each web process; one that sends what an outage kept back has fifty a second.
BATCHES = 6_000
BATCH_BYTES = 1024 * MIB

# Of a batch, unpacked.
BATCH_TEXT = 64 * MIB
BATCH_MEMBERS = 16  # gzip members: ours have one
BATCH_TEXT_ALWAYS = 16 * MIB  # four times an agent's limit; more is allowed for what is less than RATIO times smaller
BATCH_RATIO = 400
STRETCH_VALUES = 4 * MIB  # from one full sample to the next; a batch of ours has a tenth of it

# Of a run.
ARTIFACTS = 200
ARTIFACT_BYTES = 1024 * MIB  # of all of them; settings hold what a sender may store a day
COMMAND = 20_000  # characters of its command line
NODES = 256
NAMES = 10_000  # of a node's series
SERIES = 100_000  # of all nodes
SERIES_VALUES = 20_000_000  # of a file of Prometheus' series, what did not change at each of its times
NEW_METRICS = 5_000  # that no run had before
EVENTS = 20_000
RARE_EVENTS = 1_000  # beyond these, of kinds of which there are few, such as the load and its checks
FEW_EVENTS = 100
OUTPUT_LINES = 2_000_000
REPORT_NAMES = 1_000  # of a report of our own tools, in all of its lines
REPORT_VALUES = 5_000_000  # its names times its intervals, of which it has at most ROWS
EARLIEST, LATEST = datetime(2000, 1, 1, tzinfo=UTC), datetime(2100, 1, 1, tzinfo=UTC)  # its start and end
# Of a file of the sender's own with a mapping.
MAPPED = 100  # values
COLUMNS = 1_000
ROWS = 200_000  # two days, one a second
MAPPING = 64 * KIB


def is_nested_too_deep(value: Any) -> bool:
    """Deeper than JSON_DEPTH. Python's own bound is that of its stack, which whatever walks through it later has less
    of."""
    level = [value] if isinstance(value, dict | list | tuple) else []
    for _ in range(JSON_DEPTH + 1):
        inside = (each.values() if isinstance(each, dict) else each for each in level)
        level = [entry for entries in inside for entry in entries if isinstance(entry, dict | list | tuple)]
        if not level:
            return False
    return True
