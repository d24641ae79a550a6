"""Answers of servers that are none: refused in a sentence, or read without what is odd in them."""

import gzip
import json
from collections.abc import Sequence
from typing import Any

import pytest

from workers.agent.prometheus.collect import Collected, NodeTargets, collect
from workers.agent.prometheus.source import Access, PrometheusSource, PrometheusTrouble
from workers.agent.samplers import SourceFailed, haproxy, postgresql, psql

COLUMNS = "# pxname,svname,qcur,status,\n"
ROW: dict[str, Any] = {"backend": 7, "standby": False, "uptime": 1.5, "position": 2, "standbys": 0, "unreplayed": None}


def test_haproxys_counts_are_read_and_what_is_none_is_left_out() -> None:
    pid, found = haproxy.parse_answer(f"Pid: 7\nMaxconn: ²\n\n{COLUMNS}w,db1,{'9' * 5000},UP,\nw,db2,3,UP,\nw\n")
    assert pid == 7
    assert found.values == {"haproxy.w.db1.up": 1, "haproxy.w.db2.qcur": 3, "haproxy.w.db2.up": 1}


def test_statistics_of_haproxy_that_break_csv_are_a_failure() -> None:
    with pytest.raises(SourceFailed, match="HAProxy's statistics cannot be read"):
        haproxy.parse(f'{COLUMNS}w,"{"a" * 200_000}')


@pytest.mark.parametrize("line", ["{}", '{"a": ' + "[" * 100_000, "{", json.dumps({**ROW, "sessions": [[1, 2, 3]]})])
def test_an_answer_of_psql_that_is_not_understood_is_a_failure(line: str) -> None:
    with pytest.raises(SourceFailed, match=r"answer is (?:no JSON|not understood)"):
        postgresql.sampled(psql.row_of([line]))


def test_only_numbers_with_names_are_read_of_postgresql() -> None:
    database = {"xact_commit": 9, "stats_reset": "2026-01-01", "ok": True, "a b": 1, "\ud800": 2}
    found = postgresql.sampled({**ROW, "sessions": None, "database": database})
    assert {key for key in found.values if ".database." in key} == {"postgresql.database.xact_commit"}
    assert found.backend == 7


class AnsweredSource(PrometheusSource):
    def __init__(self, result: object) -> None:
        super().__init__(Access("http://prometheus:9090"), sleep=lambda _seconds: None)
        self._result = result

    def _once(self, path: str, _asked: Sequence[tuple[str, str]]) -> Any:
        data = {} if path == "metadata" else {"result": self._result}
        return self._data(path, json.dumps({"status": "success", "data": data}).encode())


def collected(*values: object, labels: object = None) -> Collected:
    source = AnsweredSource([{"metric": {"__name__": "up"} if labels is None else labels, "values": values}])
    return collect(source, [NodeTargets("db1")], begin=0.0, end=10.0)


@pytest.mark.parametrize("pair", [[1], ["1", "1"], [1, "one"], [1, None], 7, [int("9" * 400), "1"]])
def test_a_sample_of_prometheus_that_is_none_is_refused_with_the_series(pair: object) -> None:
    with pytest.raises(PrometheusTrouble, match="the samples of up are not pairs of time and value"):
        collected(pair)


@pytest.mark.parametrize("labels", [{"__name__": 1}, ["up"], "up"])
def test_labels_of_prometheus_that_are_none_are_refused(labels: object) -> None:
    with pytest.raises(PrometheusTrouble, match="gave no usable answer"):
        collected([1, "1"], labels=labels)


def test_samples_within_a_millisecond_are_one() -> None:
    """The file has milliseconds, and its times rise."""
    found = collected([1.5, "1"], [1.5001, "2"], [1.502, "3"])
    clock = json.loads(gzip.decompress(found.content).splitlines()[1])
    assert (clock["at"], found.samples) == ([1.5, 1.502], 2)
