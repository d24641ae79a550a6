"""fio's JSON is read to the digit in ms and MiB/s; percentiles are never averaged, and other runs never mixed in."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from apps.runs.samples.histograms import FIO, OffGrid
from apps.runs.tool_output.parsers.fio import report as fio
from apps.runs.tool_output.parsers.parsed_output import NotThisFormat, ParsedOutput
from tests.runs.tool_output.parsers.outputs import content


def values(found: ParsedOutput) -> dict[str, float]:
    return {value.metric: value.value for value in found.values}


def read(name: str, change: Callable[[dict[str, Any]], object] = lambda _: None) -> ParsedOutput:
    """The only document of a file, changed."""
    document = json.loads(content(f"fio/{name}.json"))
    change(document)
    return fio.parse(json.dumps(document, indent=2).encode())


def test_each_direction_has_its_requests_data_and_completion_latencies() -> None:
    found = values(read("randrw"))
    assert (
        found.items()
        >= {
            "client.file_reads": 1030.984508,
            "client.file_writes": 1086.956522,
            "client.file_requests": 2117.94103,
            "client.file_read_mib": 16891650 / 2**20,
            "client.file_read.latency.avg": 0.843471269995,
            "client.file_read.latency.p99": 7.569408,
            "client.file_read.latency.p99.9": 15.138816,
            "client.file_write.latency.max": 0.067139,
            "client.elapsed": 2.001,
        }.items()
    )


def test_a_value_names_its_own_bytes() -> None:
    text = content("fio/randrw.json")
    places = {value.metric: text[value.start : value.end] for value in fio.parse(text).values}
    assert places["client.file_write.latency.p95"] == b"18048"
    assert places["client.file_reads"] == b"1030.984508"


def test_fsyncs_have_latencies_of_their_own_and_the_ramp_lies_before_the_measured_phase() -> None:
    found = read("fsync_ramp")
    assert values(found)["client.file_fsyncs"] == pytest.approx(311 / 2.003)
    assert values(found)["client.file_fsync.latency.p99"] == 24.24832
    assert found.measured == (1.0, 3.003)


def test_of_jobs_that_are_not_grouped_rates_are_summed_and_percentiles_left_out_with_a_note() -> None:
    found = read("three_jobs")
    assert found.threads == 3
    assert values(found)["client.file_reads"] == 150 / 0.008
    assert not any(".p" in metric for metric in values(found))
    assert "use --group_reporting or --output-format=json+" in found.events[0].label


def test_bins_of_several_jobs_are_merged_exactly() -> None:
    document = json.loads(content("fio/three_jobs_plus.json"))
    bins = [job["read"]["clat_ns"]["bins"] for job in document["jobs"]]
    every = sorted(int(value) for each in bins for value, n in each.items() for _ in range(n))
    found = read("three_jobs_plus")
    assert values(found)["client.file_read.latency.p90"] == every[int(0.9 * 150) - 1] / 1e6
    (merged,) = found.distributions
    assert (merged.metric, merged.counts.count, merged.counts.grid_id) == ("client.file_read.latency", 150, "fio")
    means = [job["read"]["clat_ns"]["mean"] for job in document["jobs"]]
    assert values(found)["client.file_read.latency.avg"] == pytest.approx(sum(means) / 3 / 1e6)


def test_percentiles_of_the_bins_are_those_that_fio_prints() -> None:
    document = json.loads(content("fio/libaio_plus.json"))
    printed = document["jobs"][0]["read"]["clat_ns"]["percentile"]
    (reads, _) = read("libaio_plus").distributions
    for key in ("50.000000", "90.000000", "99.000000"):
        assert reads.counts.percentile(float(key)).value * 1e6 == pytest.approx(printed[key])


def test_a_value_off_the_grid_of_fio_is_refused() -> None:
    assert [FIO.value(bucket) for bucket in FIO.printed([5, 4768, 49408])] == [5e-6, 0.004768, 0.049408]
    with pytest.raises(OffGrid):
        FIO.printed([49409])


def as_of_3_16(document: dict[str, Any]) -> None:
    """fio 3.1 to 3.16 count no latencies."""
    document["fio version"] = "fio-3.16"
    for job in document["jobs"]:
        for direction in ("read", "write", "trim", "sync"):
            for kind in ("slat_ns", "clat_ns", "lat_ns"):
                job[direction].get(kind, {}).pop("N", None)


@pytest.mark.parametrize("name", ["randrw", "fsync_ramp", "three_jobs", "three_jobs_plus", "libaio_plus"])
def test_an_older_fio_that_counts_no_latencies_has_as_many_as_requests(name: str) -> None:
    older, newer = read(name, as_of_3_16), read(name)
    assert (older.version, values(older)) == ("3.16", values(newer))
    assert [each.counts for each in older.distributions] == [each.counts for each in newer.distributions]


def test_of_an_older_fio_latencies_that_are_all_0_were_not_measured() -> None:
    def disabled(document: dict[str, Any]) -> None:
        as_of_3_16(document)
        document["jobs"][0]["read"]["clat_ns"] = {"min": 0, "max": 0, "mean": 0.0, "stddev": 0.0}

    found = values(read("randrw", disabled))
    assert (found["client.file_reads"], found["client.file_write.latency.max"]) == (1030.984508, 0.067139)
    assert not any(metric.startswith("client.file_read.latency") for metric in found)


def test_a_group_states_its_jobs_if_their_time_fits() -> None:
    assert read("four_grouped").threads == 4
    assert read("four_grouped", lambda each: each["jobs"][0]["job options"].pop("numjobs")).threads is None


def test_messages_before_the_json_and_the_report_in_words_after_it_are_no_part_of_it() -> None:
    assert values(fio.parse(content("fio/noise.txt")))["client.file_reads"] == 1178.321678
    assert values(fio.parse(content("fio/normal_and_json.txt")))["client.file_reads"] == 1995.502249


def test_snapshots_become_series_and_the_last_one_has_the_totals() -> None:
    found = fio.parse(content("fio/status_interval.txt"))
    assert found.clock == (0.755, 1.755, 2.001)
    assert found.series["client.file_reads"] == pytest.approx((1766 / 0.755, 2198.0, 499 / 0.246))
    assert values(found)["client.file_reads"] == 2230.384808


def test_a_failed_job_is_the_reason_why_there_is_no_result() -> None:
    found = fio.parse(content("fio/full.txt"))
    assert (found.reason, found.values) == ("fio: job a: error 28 (ENOSPC)", ())
    assert "No space left on device" in found.events[0].label


def test_another_run_in_the_same_file_is_refused() -> None:
    first, second = (content(f"fio/{name}.json") for name in ("randrw", "fsync_ramp"))
    with pytest.raises(NotThisFormat, match="another run begins here"):
        fio.parse(first + second)
    later = json.loads(first)
    later["timestamp_ms"] += 2500
    with pytest.raises(NotThisFormat, match="another run begins here"):
        fio.parse(first + json.dumps(later).encode())


def test_jobs_one_after_the_other_are_not_summed() -> None:
    with pytest.raises(NotThisFormat, match="stonewall or new_group"):
        fio.parse(content("fio/stonewall.json"))


def options(**changes: str) -> dict[str, Any]:
    def change(document: dict[str, Any]) -> None:
        document["jobs"][0]["job options"] = {"rw": "randread", **{k.replace("__", "-"): v for k, v in changes.items()}}

    return dict(read("randrw", change).parameters)


@pytest.mark.parametrize(
    ("given", "stated"),
    [
        ({}, {"bs": "4k", "ioengine": "psync", "iodepth": 1, "direct": False, "rw": "randread", "size": "16m"}),
        ({"blocksize": "4096"}, {"bs": "4k"}),
        ({"bs": "1536"}, {"bs": "1536"}),
        ({"bs": "8KiB", "size": "1048576k"}, {"bs": "8k", "size": "1g"}),
        ({"direct": "1", "iodepth": "32"}, {"direct": True, "iodepth": 32}),
        ({"buffered": "0"}, {"direct": True}),
        ({"rwmixread": "70"}, {"rwmixread": 70}),
    ],
)
def test_options_state_the_work_in_one_spelling(given: dict[str, str], stated: dict[str, Any]) -> None:
    assert options(**given).items() >= stated.items()


def test_names_places_lengths_and_secrets_are_no_parameters() -> None:
    given = {"directory": "/srv", "runtime": "60", "numjobs": "1", "group_reporting": "", "http_pass": "x", "name": "a"}
    assert options(**given) == options()


def test_options_in_which_jobs_differ_are_stated_once_for_each_value() -> None:
    def change(document: dict[str, Any]) -> None:
        document["jobs"][1]["job options"]["rw"] = "write"

    assert read("three_jobs", change).parameters["rw"] == "randread,write"


def test_the_json_of_another_program_or_of_fio_2_is_refused() -> None:
    for text in (b"{}", b'{"fio version": "fio-2.21", "jobs": [{}]}', b'{"fio version": "fio-3.1", "jobs": []}'):
        with pytest.raises(NotThisFormat):
            fio.parse(text)
