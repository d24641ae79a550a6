"""What a search begins with where the corpus is empty: recorded outputs, trimmed, and inputs as a writer makes them."""

import gzip
import io
import json
import tarfile
import zipfile
from collections.abc import Callable, Iterable

import pyarrow as pa
import pyarrow.parquet as pq

from apps.runs.ingest import batch_archive
from apps.runs.storage import codec
from tests.fuzz import rows
from tests.fuzz.rows import PARTED
from tests.paths import DATA, ROOT
from workers.protocol import wire
from workers.protocol.workloads import WORKLOADS

FIRST, LAST = 60, 40  # lines
OUTPUTS = {
    "sysbench": ("recordings/sysbench_*/*.txt", "outputs/sysbench/*"),
    "tpcc-mysql": ("outputs/tpcc_mysql/*",),
    "iibench-py": ("outputs/iibench_py/*",),
    "mysqlslap": ("outputs/mysqlslap/*",),
    "hammerdb": ("outputs/hammerdb/*.log",),
    "benchbase-summary": ("outputs/benchbase/*.summary.json",),
    "benchbase-windows": ("outputs/benchbase/*.csv",),
    "go-tpc": ("outputs/go_tpc/*",),
    "ycsb": ("outputs/ycsb/*",),
    "go-ycsb": ("outputs/go_ycsb/*",),
    "pgbench": ("outputs/pgbench/*.txt",),
    "pgbench-log": ("outputs/pgbench/*.log",),
    "fio": ("outputs/fio/*",),
    "pt-query-digest": ("outputs/pt_query_digest/*",),
    "perf-report": ("outputs/perf/report*",),
    "perf-script": ("outputs/perf/script*",),
    "hammerdb-timing": ("outputs/hammerdb/timing.json",),
    "benchbase-histograms": ("outputs/benchbase/*.histograms.json",),
    "report": ("recordings/*/*json*", "recordings/ddl/*"),
    "live": ("recordings/sysbench_single/*p99*", "recordings/*/*json*"),
}


def of(name: str) -> list[bytes]:
    files = [path for pattern in OUTPUTS.get(name, ()) for path in sorted(DATA.glob(pattern)) if path.is_file()]
    return [trimmed(path.read_bytes()) for path in files] + [bytes(each) for each in MADE.get(name, list)()]


def trimmed(text: bytes) -> bytes:
    """The lines of its beginning and its end; JSON stays whole."""
    lines = text.splitlines(keepends=True)
    return text if text[:1] in b"{[" or len(lines) <= FIRST + LAST else b"".join([*lines[:FIRST], *lines[-LAST:]])


def _batches() -> Iterable[bytes]:
    encoder = wire.BatchEncoder(run="r")
    flushed = []
    for part in range(2):
        for t in range(4):
            values: dict[str, wire.Number] = {"a": 5 * t + part, "b": 0.5 * t, "c": None if t == 2 else 2**63 - t}
            encoder.add_sample(node="db1", role="writer", t=part * 10 + t, values=values | ({"d": 1} if part else {}))
        encoder.add_event(wire.EventMessage(kind="ddl", label="ALTER", starts_at=1.0, detail={"a": 1}))
        encoder.add_output(t=part * 10.0, line="[ 1s ] thds: 4")
        flushed.append(gzip.decompress(encoder.flush()[1]))
    yield PARTED.join(flushed)
    yield flushed[0]


def _seals() -> Iterable[bytes]:
    for output in (*of("report"), *of("sysbench")[:12]):
        for batches in _batches():
            yield output.rstrip() + b"\n" + PARTED + batches


def _gzip() -> Iterable[bytes]:
    for text in (b"", b"{}\n[]", b"0" * 9000):
        yield gzip.compress(text, mtime=0)
        yield gzip.compress(text, mtime=0) * 2


def _blocks() -> Iterable[bytes]:
    for samples in ([1, 2, 3], [1, None, 2**64 - 1], [0.5, None, 1e300], [None, None], list(range(64)), [0.25] * 64):
        data = codec.encode(codec.column(samples)).data
        yield data[:1] + data[5:]


def _files() -> dict[str, bytes]:
    given = rows.archived()
    return {given.path: json.dumps(given.manifest).encode(), "files/ab/abcd": b"content"}


def _zips() -> Iterable[bytes]:
    for method in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        held = io.BytesIO()
        with zipfile.ZipFile(held, "w", method) as file:
            for name, content in _files().items():
                file.writestr(zipfile.ZipInfo(name), content)
        yield held.getvalue()


def _tars() -> Iterable[bytes]:
    for kind in (tarfile.USTAR_FORMAT, tarfile.GNU_FORMAT, tarfile.PAX_FORMAT):
        held = io.BytesIO()
        with tarfile.open(fileobj=held, mode="w", format=kind) as file:
            for name, content in _files().items():
                entry = tarfile.TarInfo(name)
                entry.size = len(content)
                file.addfile(entry, io.BytesIO(content))
        yield held.getvalue()


def _parquet() -> Iterable[bytes]:
    table = (
        rows.archived()
        .tables["series"]
        .select(["node", "metric", "samples_integer", "samples_large", "samples_decimal"])
    )
    for kept in (table, table.slice(0, 1), pa.table({"node": [1], "metric": ["a"]})):
        held = io.BytesIO()
        pq.write_table(kept, held, compression="none", write_statistics=False, use_dictionary=False)
        yield held.getvalue()


def _campaigns() -> Iterable[bytes]:
    for path in sorted((ROOT / "campaigns").glob("*.yaml")):
        yield path.read_bytes()
    top = {"name": "n", "systems": ["db"], "repetitions": 1, "warmup": 1, "duration": 10}
    levels = {"load_levels": [1, {"threads": 2, "rate": 5}]}
    loads: tuple[dict[str, object], ...] = (
        {"parameters": {}},
        {"climb": {"to": 9}},
        {"storm": {"base": 2, "factors": [1, 1.5]}},
    )
    for tool in sorted(WORKLOADS):
        yield json.dumps(top | levels | {"workloads": [{"tool": tool} | load for load in loads]}).encode()


def _articles() -> Iterable[bytes]:
    return (path.read_bytes()[:6000] for path in sorted((ROOT / "apps/published/data").glob("*.yaml")))


def _runs() -> Iterable[bytes]:
    opens = wire.RunMessage(
        job=1,
        attempt=1,
        load_level=wire.LoadLevelMessage(threads=4),
        started_at="2026-01-31T12:00:00Z",
        warmup=1,
        duration=10,
        server_version="10.11",
        command="sysbench run",
        host={"cpus": 2},
        data_bytes=1,
        nodes=[wire.RunNodeMessage(name="db1", role="writer", variables={"a": "1"}, defaults={"a": "2"})],
    )
    ends = wire.RunEndMessage(
        outcome="failed",
        reason="why",
        ended_at="2026-01-31T12:01:00+00:00",
        measured_from=1.0,
        measured_to=2.0,
        batches=0,
        artifacts=[wire.ArtifactMessage(name="a.txt", sha256="0" * 64, size=1)],
    )
    yield wire.to_json(opens) + b"\n" + wire.to_json(ends)


def _changes() -> Iterable[bytes]:
    yield b"{}"
    for table, held in rows.archived().tables.items():
        for name in held.schema.names:
            yield json.dumps({table: {name: "a"}}).encode()
            yield json.dumps({table: {name: 1}}).encode()
            yield json.dumps({table: {name: None}}).encode()
    for name in rows.archived().manifest:
        yield json.dumps({"manifest": {name: "a"}}).encode()


def _series() -> Iterable[bytes]:
    head = '{"splashboard": "prometheus series", "version": 1, "source": "http://prometheus:9090"}'
    clock = '{"clock": 0, "at": [1767225600.1, 1767225615.1, 1767225630.1]}'
    load = '{"node": "db1", "labels": {"__name__": "node_load1"}, "clock": 0, "values": [1, 1.5, null]}'
    constant = '{"labels": {"__name__": "own", "job": "a"}, "clock": 0, "value": 8, "type": "gauge"}'
    again = '{"labels": {"__name__": "own", "job": "b"}, "clock": 0, "value": 9}'
    cpu = '{"labels": {"__name__": "node_cpu_seconds_total", "mode": "idle"}, "clock": 0, "values": [1, 2, 3]}'
    yield "\n".join([head, clock, load, constant, again, cpu]).encode()


def _forms() -> Iterable[bytes]:
    disposition = 'Content-Disposition: form-data; name="'
    yield (
        f'--b\r\n{disposition}system"\r\n\r\ndb\r\n--b\r\n{disposition}file"; filename="a.txt"\r\n'
        "Content-Type: text/plain\r\n\r\n[ 1s ] thds: 4\r\n--b--\r\n"
    ).encode()
    yield b"--b\r\nContent-Disposition: form-data; name*=UTF-8''%E2%82%AC\r\n\r\n\xff\r\n--b--\r\n"


def _answers() -> Iterable[bytes]:
    matrix = (
        '{"status":"success","data":{"resultType":"matrix","result":[{"metric":{"__name__":"node_load1","instance":"db1"},'
        '"values":[[1767225600.1,"1"],[1767225615.1,"1.5"],[1767225630.1,"NaN"]]}]}}'
    )
    yield PARTED.join(
        [matrix.encode(), b'{"status":"success","data":{"node_load1":[{"type":"gauge","help":"","unit":""}]}}']
    )


def _rows() -> Iterable[bytes]:
    yield (
        b'{"backend" : 7, "standby" : false, "uptime" : 9.5, "position" : 1024, "standbys" : 0, "unreplayed" : null, '
        b'"sessions" : [["active","Lock",2],["idle in transaction",null,1]], "database" : {"datid":5,"datname":"b",'
        b'"xact_commit":9,"stats_reset":null}, "wal" : {"wal_records":3}}'
    )
    yield b"psql: error: connection to server failed: FATAL:  password authentication failed\n"


def _texts(*texts: str) -> Callable[[], Iterable[bytes]]:
    return lambda: [text.encode() for text in texts]


MADE: dict[str, Callable[[], Iterable[bytes]]] = {
    "digests": lambda: [
        b'{"node":"db1","from":0,"to":10,"total":{"count":9,"seconds":1.5,"lock_seconds":0,"errors":0,"rows_affected":1,'
        b'"rows_sent":2,"rows_examined":3},"statements":[{"schema":"s","digest":"d","text":"SELECT ?","count":9,'
        b'"seconds":1.5,"lock_seconds":0,"errors":0,"rows_affected":1,"rows_sent":2,"rows_examined":3}]}\n'
    ],
    "report": lambda: [
        b'{"kind":"begin","tool":"failover","version":"1"}\n{"kind":"interval","t":1.0,"seconds":1.0,"threads":4,"counts":'
        b'{"transactions":100},"values":{"latency.p95":19.6}}\n{"kind":"event","event":"fault","label":"kill","from":1.5,'
        b'"to":1.6,"node":"db1","detail":{"a":1}}\n{"kind":"error","t":1.7,"code":2013,"text":"Lost","count":4}\n{"kind":'
        b'"check","check":"rows","label":"200","held":true}\n{"kind":"histogram","from":1.0,"to":3.0,"buckets":[[1.007,40]]}'
        b'\n{"kind":"total","from":1.0,"to":3.0,"counts":{"transactions":100,"reads":3},"values":{"failover.outage":1.2}}\n'
        b'{"kind":"end"}\n'
    ],
    "messages": lambda: (
        [line for text in _runs() for line in text.splitlines()]
        + [
            b'{"version":"1","labels":["a"],"systems":[{"slug":"s","name":"n","platform":"p","version":"v","hardware_class":"h",'
            b'"nodes":[{"name":"a"}],"aws":{"region":"r"}}],"hardware":[{"slug":"s","name":"n","vcpu":1,"memory_bytes":1}]}',
            b'{"attempt":1,"outcome":"failed","reason":"r","skipped":[{"uid":"00000000-0000-4000-8000-000000000001","reason":""}]}',
            b'{"systems":{"a":["b"]},"batches":1,"target":"","now":1.5,"cancel":true,"lease_seconds":1,"attempt":1}',
        ]
    ),
    "batches": _batches,
    "gzip": _gzip,
    "block": _blocks,
    "zip": _zips,
    "tar": _tars,
    "parquet": _parquet,
    "yaml": lambda: [*_campaigns(), b"a: &x [1, 0x1f, 1_0, .inf, 1:30]\nb: *x\n<<: {c: !!binary aGk=}\n"],
    "published": _articles,
    "article": _articles,
    "campaign": _campaigns,
    "run": _runs,
    "restore": _changes,
    "seal": _seals,
    "secrets": _texts(
        "sysbench --mysql-password=x run -psecret -p3306",
        "PGPASSWORD='a b' mysql://u:p@h/d --token \"q\"",
        "a=1;ssl_passphrase=x",
        "[pass]: x\noption p with value 'y'\nChanged mysql:mysql_pass from a to b\n",
        'CREATE USER a IDENTIFIED WITH x BY \'y\'; mysql -px\n{"mysql_pass": "v", token: t}',
    ),
    "json": _texts(
        '{"name": "n", "systems": ["db"], "repetitions": 1, "of": {"a": [1.5, null, true]}}', "[]", '"\\ud83d\\ude00"'
    ),
    "form": _forms,
    "promql": _texts(
        'sum by (instance) (rate(node_cpu_seconds_total{mode!="idle",instance=~"db.*"}[5m])) * 100',
        "-(mysql_up + 1) / avg without (job) (increase(a_total[1h30m]))",
        '{__name__="a\\"b", c!~"d|e"}',
        "a offset 5m or b",
    ),
    "prometheus": _series,
    "batch-files": lambda: [
        batch_archive.packed([("000000", b"one"), ("000001", b"two"), ("sampler/000000", b"three")])
    ],
    "haproxy-answer": _texts(
        "Name: HAProxy\nPid: 7\nMaxconn: 100\nUptime_sec: 9\n\n# pxname,svname,qcur,scur,status,check_status,addr,\n"
        "entry,FRONTEND,,1,OPEN,,,\nwriter,db1,0,1,UP 1/3,* L7OK,10.0.0.1:3306,\nwriter,BACKEND,0,1,UP,,,\n\n"
    ),
    "psql-answer": _rows,
    "prometheus-answers": _answers,
    "grid": _texts("sysbench:1024:0.001:100000", "hdr:1:3600000000:3:us", "hdr:1000:60000000000:2:ns"),
    "cron": _texts("30 2 * * *", "0 22 * * MON-FRI", "*/5 1-3,7 L JAN 0#1"),
}
