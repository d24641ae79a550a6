"""Pages of a warehouse with many runs, compared with the same pages of one with few.

Both are created by `manage.py seed_rig`: two systems measured every night have two fifths of the runs, and the timed
addresses are those with the most data.
"""

import html
import os
import re
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from urllib.parse import parse_qs, urlencode, urlsplit

import psycopg

from bench import rounds, servers, warehouse
from bench.context import Bench
from bench.rounds import Compared
from bench.servers import Connection, Failed
from lab.ports import free_port

FEW = 1_000
SERIES, SECONDS = 10, 100  # per run: 100 million samples in 100,000 runs
ROUNDS = 40
WARM_UP = 3
P95 = 0.95
SLOWEST = 300.0  # ms, p95
GROWTH = 1.3
HOME = "Home"
# Home is judged anew after a change alone, so a visit like the last one is not all that its visitors see.
AFTER_A_RUN = "Home after a new run"
VISITS = {HOME: ", nothing new since the last visit", AFTER_A_RUN: ", first visit"}
COMPARED = re.compile(r'href="/compare/\?(side=[^"]+level=[^"]+)"')
# With an id for a copy of it.
NEWEST = """
SELECT run.id, nextval(pg_get_serial_sequence('runs_run', 'id')) FROM runs_run run
JOIN catalog_system system ON system.id = run.system_id JOIN catalog_loadlevel level ON level.id = run.load_level_id
WHERE system.slug = %s AND run.workload_id = %s AND level.threads = %s AND level.rate IS NULL
  AND run.state = 'sealed' AND run.outcome = 'succeeded' AND NOT run.is_excluded
ORDER BY run.started_at DESC LIMIT 1
"""
ADD_RUN = """
INSERT INTO runs_run SELECT made.* FROM runs_run run CROSS JOIN LATERAL jsonb_populate_record(run, jsonb_build_object(
    'id', %(own)s::bigint, 'uid', gen_random_uuid(), 'started_at', run.started_at + interval '1 second'
)) made WHERE run.id = %(like)s
"""
ADD_MEASUREMENTS = """
INSERT INTO runs_measurement SELECT made.* FROM runs_measurement known CROSS JOIN LATERAL jsonb_populate_record(
    known,
    jsonb_build_object('id', nextval(pg_get_serial_sequence('runs_measurement', 'id')), 'run_id', %(own)s::bigint)
) made WHERE known.run_id = %(like)s
"""


@dataclass(frozen=True)
class Rig:
    """A warehouse of synthetic runs with its web server. `addresses`: page -> timed address. `url`: the database's."""

    http: Connection
    addresses: dict[str, str]
    url: str

    def visit(self, page: str) -> float:
        """Until the whole page arrived, ms. Raises Failed."""
        if page == AFTER_A_RUN:
            self._add_run()
        return 1000 * self.http.send("GET", self.addresses.get(page, self.addresses[HOME]))[1]

    def _add_run(self) -> None:
        """To the first system that Home compares, at that load: a copy of its newest, a second later."""
        link = COMPARED.search(self.http.send("GET", self.addresses[HOME])[0].decode())
        if link is None:
            raise Failed("Home compares no systems of the rig")
        asked = parse_qs(html.unescape(link[1]))
        with psycopg.connect(self.url) as connection:
            (like, own) = connection.execute(
                NEWEST, [asked[name][0] for name in ("side", "workload", "level")]
            ).fetchall()[0]
            for statement in (ADD_RUN, ADD_MEASUREMENTS):
                connection.execute(statement, {"like": like, "own": own})


def measure(bench: Bench, folder: Path, *, runs: int) -> None:
    with ExitStack() as stack:
        many = stack.enter_context(_rig(bench, folder, runs))
        few = stack.enter_context(_rig(bench, folder, FEW))
        # The last one adds runs.
        for page in (*many.addresses, AFTER_A_RUN):
            sides = {"many": partial(many.visit, page), "few": partial(few.visit, page)}
            rounds.interleaved(sides, rounds=WARM_UP)
            found = rounds.interleaved(sides, rounds=ROUNDS)
            paired = rounds.compared(found["many"], found["few"])
            bench.report(
                key=f"pages.{page.lower().replace(' ', '_')}", part="pages",
                title=f"{page} at {runs:,} runs, p95{VISITS.get(page, '')}", peer=f"the same at {FEW:,} runs",
                unit="ms", better="lower", limit=None if page == AFTER_A_RUN else GROWTH, limit_ours=SLOWEST,
                found=Compared(
                    ours=rounds.quantile(found["many"], P95), theirs=rounds.quantile(found["few"], P95),
                    ratio=paired.ratio, low=paired.low, high=paired.high, rounds=paired.rounds,
                ),
            )  # fmt: skip


@contextmanager
def _rig(bench: Bench, folder: Path, runs: int) -> Iterator[Rig]:
    with made(bench, folder, runs=runs, series=SERIES, seconds=SECONDS) as (port, url):
        yield Rig(Connection(port), addresses(url), url)


@contextmanager
def made(bench: Bench, folder: Path, *, runs: int, series: int, seconds: int) -> Iterator[tuple[int, str]]:
    """A warehouse of synthetic runs in its own database beside the bench's, and a web server for it: yields its port
    and the database's address. Raises Failed."""
    name = f"rig_{runs}_{series}_{seconds}"
    url = os.environ["DATABASE_URL"]
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name}")
    # The address names a socket's folder in its query.
    url = urlsplit(url)._replace(path=f"/{name}").geturl()
    env = {**os.environ, "DATABASE_URL": url}
    began = time.monotonic()
    warehouse.manage("migrate", "--verbosity", "0", env=env)
    options = (("--runs", runs), ("--series", series), ("--seconds", seconds))
    warehouse.manage("seed_rig", *(str(part) for option in options for part in option), env=env)
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("VACUUM ANALYZE")
    bench.say(f"created a warehouse of {runs:,} runs in {time.monotonic() - began:.0f} s")
    port = free_port(folder)
    argv = (sys.executable, "-m", "config.serving", "--port", str(port))
    with servers.running(argv, folder=folder, name=name, env=env):
        servers.await_answer(port, "/api/v1/health/", log=folder / f"{name}.log")
        yield port, url


def addresses(url: str) -> dict[str, str]:
    with psycopg.connect(url) as connection:
        nightly = connection.execute(
            "SELECT run.id, run.workload_id, system.slug FROM runs_run run JOIN catalog_system system"
            " ON system.id = run.system_id WHERE 'nightly' = ANY (run.tags) ORDER BY run.started_at DESC, run.id DESC"
        ).fetchall()
        slugs = connection.execute(
            "SELECT DISTINCT system.slug FROM runs_run run JOIN catalog_system system ON system.id = run.system_id"
            " WHERE 'nightly' = ANY (run.tags) ORDER BY system.slug"
        ).fetchall()
        planned = connection.execute(
            "SELECT campaign.id, array_agg(system.slug ORDER BY system.slug) FROM dispatch_campaign campaign"
            " JOIN dispatch_campaign_systems part ON part.campaign_id = campaign.id"
            " JOIN catalog_system system ON system.id = part.system_id"
            " WHERE campaign.name LIKE 'comparison%' GROUP BY campaign.id ORDER BY campaign.id LIMIT 1"
        ).fetchone()
    if planned is None:
        raise Failed("the rig has no campaign that compares systems")
    campaign, compared = planned
    (newest, workload, system), (oldest, _, _) = nightly[0], nightly[-1]
    sides = urlencode([*(("side", slug) for (slug,) in slugs), ("workload", workload)])
    matrix = urlencode([*(("side", slug) for slug in compared), ("campaign", campaign)])
    return {
        HOME: "/",
        "Runs": "/runs/",
        "Runs of a system": f"/runs/?{urlencode({'system': system})}",
        # Filters that also fill a page of the small warehouse: otherwise the pages would not be comparable.
        "Runs of a platform that succeeded": f"/runs/?{urlencode({'platform': 'pxc', 'outcome': 'succeeded'})}",
        "Runs found by words": f"/runs/?{urlencode({'text': 'aurora'})}",
        "Older runs": f"/runs/?{urlencode({'before': nightly[len(nightly) // 2][0]})}",
        "Run": f"/runs/{newest}/",
        "Old run": f"/runs/{oldest}/",
        "Compare": f"/compare/?{sides}",
        "Matrix of a campaign": f"/matrix/?{matrix}",
    }
