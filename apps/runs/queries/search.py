"""Text search of runs: words are searched in the small tables, then runs are selected by the rows found.

Searching the text of each run would read all runs.
"""

from collections.abc import Iterable, Sequence
from typing import Any

from django.db import connection
from django.db.models import Q

from apps.catalog.models import System, Workload
from apps.runs.models import COUNTED, Run

SYSTEM_COLUMNS = (
    *("name", "short_name", "slug"),
    *("release__version", "release__platform__name", "hardware_class__name"),
)
WORKLOAD_COLUMNS = ("name", "tool")
# Distinct versions by a skip scan of the index, instead of reading all runs.
VERSIONS = """
WITH RECURSIVE version (text) AS (
    (SELECT server_version FROM runs_run ORDER BY server_version LIMIT 1)
    UNION ALL
    SELECT (SELECT server_version FROM runs_run WHERE server_version > text ORDER BY server_version LIMIT 1)
    FROM version WHERE text IS NOT NULL
)
SELECT text FROM version WHERE text IS NOT NULL
"""


def word_conditions(words: Sequence[str]) -> list[Q]:
    """One condition per word: it occurs in the run's system, workload or server version. Three queries."""
    if not words:
        return []
    systems = System.objects.order_by().values_list("pk", *SYSTEM_COLUMNS)
    workloads = Workload.objects.order_by().values_list("pk", *WORKLOAD_COLUMNS)
    found_systems, found_workloads = _occurring(systems, words), _occurring(workloads, words)
    found_versions = _occurring(((version, version) for version in _versions()), words)
    return [
        Q(system_id__in=found_systems[word])
        | Q(workload_id__in=found_workloads[word])
        | Q(server_version__in=found_versions[word])
        for word in words
    ]


def _occurring(rows: Iterable[tuple[Any, ...]], words: Sequence[str]) -> dict[str, list[Any]]:
    """Word -> first columns of the rows whose other columns contain it, case-insensitively."""
    texts = [(row[0], "\n".join(row[1:]).casefold()) for row in rows]
    return {word: [key for key, text in texts if word.casefold() in text] for word in words}


def _versions() -> list[str]:
    with connection.cursor() as cursor:
        cursor.execute(VERSIONS)
        return [version for (version,) in cursor.fetchall()]


def newest_left_out(words: Sequence[str], conditions: Sequence[Q], limit: int) -> list[int]:
    """Ids of the newest runs that do not count, with each word in their reason or matched by `conditions`."""
    chosen = Run.objects.exclude(COUNTED)
    for word, elsewhere in zip(words, conditions, strict=True):
        chosen = chosen.filter(elsewhere | Q(reason__icontains=word))
    return list(chosen.order_by("-started_at", "-id").values_list("pk", flat=True)[:limit])
