"""Inputs that grow: the same again and again, and ever new names, of which each costs an entry."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

MIXED = 2_654_435_761  # odd: numbers in no order, none twice


@dataclass(frozen=True)
class DistinctLines:
    """`line`: of a number, by which it names something new."""

    line: Callable[[int], str]
    head: str = ""
    tail: str = ""

    def of(self, size: int) -> bytes:
        """As many lines as make `size` bytes."""
        found, length, number = [self.head], len(self.head) + len(self.tail), 0
        while length < size:
            found.append(self.line(number * MIXED % 2**32))
            length, number = length + len(found[-1]), number + 1
        return ("".join(found) + self.tail if self.tail else "".join(found).rstrip("\n")).encode()


def repeated(content: bytes, size: int) -> Iterator[bytes]:
    """The input again and again; and with one of its lines, or one byte within that, again and again."""
    lines = content.splitlines(keepends=True) or [b""]
    middle = lines[len(lines) // 2]
    before, after = b"".join(lines[: len(lines) // 2]), b"".join(lines[len(lines) // 2 + 1 :])
    half = len(middle) // 2
    yield content * (size // max(len(content), 1))
    yield before + middle * (size // max(len(middle), 1)) + after
    yield before + middle[:half] + middle[half : half + 1] * size + middle[half:] + after


_BATCH = '{"run":"r","sequence":0}\n'
_SERIES = (
    '{"splashboard": "prometheus series", "version": 1}\n{"clock": 0, "at": [1767225600, 1767225615, 1767225630]}\n'
)
_TOTAL = '"count":1,"seconds":1.5,"lock_seconds":0,"errors":0,"rows_affected":1,"rows_sent":2,"rows_examined":3}'
_STATEMENT = f'"text":"SELECT ?",{_TOTAL}'
_ROW = '{"backend":7,"standby":false,"uptime":9.5,"position":1,"standbys":0,"unreplayed":null,'
_MATRIX = '{"status":"success","data":{"resultType":"matrix","result":['
_VALUES = '"values":[[1767225600,"1"],[1767225615,"1.5"]]}'
_BEGIN = '{"kind":"begin","tool":"failover","version":"1"}\n'

# (target, what is new in each line) -> the lines.
DISTINCT: dict[tuple[str, str], DistinctLines] = {
    ("batches", "metrics"): DistinctLines(
        lambda number: f'"m{number}",', f'{_BATCH}{{"node":"db1","role":"writer","layout":"l","names":[', '"m"]}'
    ),
    ("batches", "nodes"): DistinctLines(
        lambda number: f'{{"node":"n{number}","role":"writer","layout":"l","names":["m"]}}\n["n{number}",1,[1]]\n',
        _BATCH,
    ),
    ("batches", "events"): DistinctLines(
        lambda number: f'{{"event":{{"kind":"k{number}","label":"l{number}","starts_at":{number}}}}}\n', _BATCH
    ),
    ("prometheus", "series"): DistinctLines(
        lambda number: f'{{"labels": {{"__name__": "a", "b": "{number}"}}, "clock": 0, "values": [1, 2, {number}]}}\n',
        _SERIES,
    ),
    ("prometheus", "metrics"): DistinctLines(
        lambda number: f'{{"labels": {{"__name__": "node_{number}"}}, "clock": 0, "value": {number}}}\n', _SERIES
    ),
    ("prometheus", "instances"): DistinctLines(
        lambda number: f'{{"labels": {{"__name__": "a", "instance": "{number}"}}, "clock": 0, "value": {number}}}\n',
        _SERIES,
    ),
    ("prometheus", "disks"): DistinctLines(
        lambda number: (
            f'{{"labels": {{"__name__": "node_disk_io_now", "device": "{number}"}}, "clock": 0, "value": 1}}\n'
        ),
        _SERIES,
    ),
    ("digests", "statements"): DistinctLines(
        lambda number: f'{{"schema":"s{number}","digest":"d{number}",{_STATEMENT},',
        f'{{"node":"db1","from":0,"to":10,"total":{{{_TOTAL},"statements":[',
        f'{{"schema":"s","digest":"d",{_STATEMENT}]}}\n',
    ),
    ("report", "metrics"): DistinctLines(
        lambda number: (
            f'{{"kind":"total","from":1.0,"to":3.0,"counts":{{"c{number}":1}},"values":{{"v{number}":1.5}}}}\n'
        ),
        _BEGIN,
    ),
    ("haproxy-answer", "servers"): DistinctLines(
        lambda number: f"writer,db{number},0,1,UP,,10.0.0.1:3306,\n",
        "\n\n# pxname,svname,qcur,scur,status,check_status,addr,\n",
    ),
    ("psql-answer", "counters"): DistinctLines(
        lambda number: f'"c{number}":{number},', f'{_ROW}"sessions":[],"database":{{', '"c":1}}'
    ),
    ("psql-answer", "states"): DistinctLines(
        lambda number: f'["s{number}",null,1],', f'{_ROW}"sessions":[', '["active","Lock",1]]}'
    ),
    ("prometheus-answers", "series"): DistinctLines(
        lambda number: f'{{"metric":{{"__name__":"a","b":"{number}"}},{_VALUES},',
        _MATRIX,
        f'{{"metric":{{"__name__":"a"}},{_VALUES}]}}}}',
    ),
    ("json", "names"): DistinctLines(lambda number: f'"n{number}": {{"a": {number}}},', "{", '"n": 1}'),
    ("form", "fields"): DistinctLines(
        lambda number: f'--b\r\nContent-Disposition: form-data; name="n{number}"\r\n\r\n{number}\r\n', tail="--b--\r\n"
    ),
    ("yaml", "names"): DistinctLines(lambda number: f"n{number}: {{a: {number}}}\n"),
    ("secrets", "options"): DistinctLines(lambda number: f"--option{number}=value{number} \n", "sysbench "),
}
