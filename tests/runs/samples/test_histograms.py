"""Histograms on their grids: read as printed, merged by adding counts, asked for percentiles."""

import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.runs.samples import histograms
from apps.runs.samples.histograms import (
    SYSBENCH,
    DifferentGrids,
    Grid,
    HdrGrid,
    HistogramCounts,
    OffGrid,
    SysbenchGrid,
    UnknownGrid,
    grid_of,
    merge,
)
from apps.runs.tool_output.parsers import sysbench
from tests.paths import RECORDINGS

HDR = HdrGrid(lowest=1, highest=3_600_000_000, digits=3, unit="us")
GRIDS = [SYSBENCH, SysbenchGrid(size=100, lowest=0.01, highest=1000), HDR, HdrGrid(1000, 60_000_000_000, 2, "ns")]
WITH_HISTOGRAM = sorted(path for path in RECORDINGS.glob("*/*.txt") if b"Latency histogram" in path.read_bytes())
latencies = st.floats(min_value=0.0005, max_value=200_000, allow_nan=False)
samples = st.lists(latencies, min_size=1, max_size=60)


def of_values(grid: Grid, values: list[float]) -> HistogramCounts:
    buckets, counts = np.unique([grid.bucket(value) for value in values], return_counts=True)
    return HistogramCounts(grid, tuple(buckets.tolist()), tuple(counts.tolist()))


def recorded(path: Path) -> tuple[sysbench.ParsedSysbench, HistogramCounts]:
    parsed = sysbench.parse(path.read_bytes())
    assert parsed.histogram is not None
    buckets = SYSBENCH.printed([figure.value for figure in parsed.histogram.values])
    return parsed, HistogramCounts(SYSBENCH, buckets, parsed.histogram.counts)


@pytest.mark.parametrize("path", WITH_HISTOGRAM, ids=lambda path: path.stem)
def test_what_sysbench_printed_is_found_and_printed_again(path: Path) -> None:
    parsed, found = recorded(path)
    output = path.read_bytes()
    assert parsed.histogram is not None
    printed = [output[figure.start : figure.end].decode() for figure in parsed.histogram.values]
    assert [f"{SYSBENCH.value(bucket):.3f}" for bucket in found.buckets] == printed


@pytest.mark.parametrize("path", WITH_HISTOGRAM, ids=lambda path: path.stem)
def test_the_percentile_is_the_one_that_sysbench_printed(path: Path) -> None:
    parsed, found = recorded(path)
    printed = [name for name in parsed.totals if name.startswith("latency_p")]
    for name in printed:
        quantile = found.percentile(int(name.removeprefix("latency_p")))
        assert quantile.value == pytest.approx(parsed.totals[name].value, abs=0.006)
    assert printed or not parsed.complete
    if parsed.complete and not parsed.checkpoints:
        assert found.percentile(0).low <= parsed.totals["latency_min"].value + 0.005
        assert found.maximum.low - 0.005 <= parsed.totals["latency_max"].value < found.maximum.high + 0.005


@given(values=st.sets(st.integers(0, SYSBENCH.size - 1), min_size=1))
def test_buckets_that_print_apart_are_found_exactly(values: set[int]) -> None:
    apart = sorted(bucket for bucket in values if SYSBENCH.value(bucket) > 0.06)
    assert SYSBENCH.printed([SYSBENCH.value(bucket) for bucket in apart]) == tuple(apart)
    every = [SYSBENCH.value(bucket) for bucket in sorted(values)]
    assert [SYSBENCH.value(bucket) for bucket in SYSBENCH.printed(every)] == every


@pytest.mark.parametrize("values", [[0.811, 0.812], [5.0, 4.5], [0.811, 0.811], [100_001.0]])
def test_values_that_the_grid_does_not_print_in_this_order_are_refused(values: list[float]) -> None:
    with pytest.raises(OffGrid, match=r"is not a value of the grid sysbench:1024:0\.001:100000"):
        SYSBENCH.printed(values)


@pytest.mark.parametrize("grid", GRIDS, ids=lambda grid: grid.id)
@given(value=latencies)
def test_a_value_lies_within_the_bounds_of_its_bucket(grid: Grid, value: float) -> None:
    bucket = grid.bucket(value)
    low, high = grid.bounds(bucket)
    assert low * (1 - 1e-12) <= value < high * (1 + 1e-12)
    if bucket > 0:
        assert grid.bounds(bucket - 1)[1] == pytest.approx(low, rel=1e-12)


@pytest.mark.parametrize("grid", GRIDS, ids=lambda grid: grid.id)
def test_a_grid_is_found_by_its_id(grid: Grid) -> None:
    assert grid_of(grid.id) == grid


@pytest.mark.parametrize(
    "text",
    [
        *(
            "",
            "log:9",
            "sysbench",
            "sysbench:1024:0.001",
            "sysbench:1024:0.001:1e5",
            "sysbench:1:1:2",
            "sysbench:9:0:1",
        ),
        *("sysbench:9:nan:1", "sysbench:9:5:1", "hdr:1:3600000000:3", "hdr:1:3600000000:9:us", "hdr:0:9:3:us"),
    ],
)
def test_no_other_text_is_a_grid(text: str) -> None:
    with pytest.raises(UnknownGrid):
        grid_of(text)


def test_the_steps_of_sysbenchs_grid_are_1_8_per_cent() -> None:
    low, high = SYSBENCH.bounds(500)
    assert high / low == pytest.approx(1.0182, abs=0.0001)
    assert low < SYSBENCH.value(500) < high
    assert SYSBENCH.bounds(0)[0] == 0
    assert SYSBENCH.bounds(1023)[1] == math.inf
    assert (SYSBENCH.bucket(0), SYSBENCH.bucket(1e9)) == (0, 1023)


@pytest.mark.parametrize(
    ("value", "index", "reported"),
    # As HdrHistogram's own implementation has them, for 1 to 3,600,000,000 µs with three digits.
    [
        (0, 0, 0),
        (1, 1, 1),
        (2047, 2047, 2047),
        (2048, 2048, 2049),
        (10_007, 4322, 10_007),
        (1_000_000, 11_169, 1_000_447),
        (3_600_000_000, 23_220, 3_600_809_983),
    ],
)
def test_hdr_histograms_grid_is_laid_out_as_its_own_implementation_does(value: int, index: int, reported: int) -> None:
    assert HDR.bucket(value / 1000) == index
    assert HDR.value(index) == reported / 1000


@given(groups=st.lists(samples, min_size=1, max_size=5), percent=st.sampled_from([0, 50, 90, 95, 99, 99.9, 100]))
def test_a_merged_percentile_is_that_of_the_pooled_values_to_one_bucket(
    groups: list[list[float]], percent: float
) -> None:
    for grid in (SYSBENCH, HDR):
        merged = merge([of_values(grid, values) for values in groups])
        pooled = [value for values in groups for value in values]
        assert merged.count == len(pooled)
        # The same rank of the pooled values.
        rank = min(max(math.floor(len(pooled) * percent / 100 + 0.5), 1), len(pooled))
        exact = sorted(pooled)[rank - 1]
        quantile = merged.percentile(percent)
        assert quantile.low * (1 - 1e-12) <= exact < quantile.high * (1 + 1e-12)
        assert quantile.beyond == sum(grid.bucket(value) > grid.bucket(exact) for value in pooled)


@given(groups=st.lists(samples, min_size=2, max_size=4))
def test_merging_is_what_one_histogram_would_have_held(groups: list[list[float]]) -> None:
    parts = [of_values(SYSBENCH, values) for values in groups]
    assert merge(parts) == of_values(SYSBENCH, [value for values in groups for value in values])
    assert merge(parts) == merge([parts[0], merge(parts[1:])])


def test_counts_on_different_grids_are_not_added() -> None:
    with pytest.raises(DifferentGrids, match=r"hdr:1:3600000000:3:us and sysbench:1024:0\.001:100000"):
        merge([of_values(SYSBENCH, [1.0]), of_values(HDR, [1.0])])
    with pytest.raises(ValueError, match="nothing to merge"):
        merge([])


@given(values=samples, threshold=latencies)
def test_the_share_above_is_right_to_the_bucket_of_the_threshold(values: list[float], threshold: float) -> None:
    share = of_values(SYSBENCH, values).share_above(threshold)
    low, high = SYSBENCH.bounds(SYSBENCH.bucket(threshold))
    over = sum(value >= high for value in values) / len(values)
    assert over <= share <= sum(value >= low for value in values) / len(values)


@pytest.mark.parametrize(
    ("buckets", "counts"),
    [((), ()), ((1,), (1, 2)), ((2, 1), (1, 1)), ((1, 1), (1, 1)), ((1,), (0,)), ((-1,), (1,)), ((1024,), (1,))],
)
def test_what_is_no_histogram_is_refused(buckets: tuple[int, ...], counts: tuple[int, ...]) -> None:
    with pytest.raises(ValueError, match="bucket"):
        HistogramCounts(SYSBENCH, buckets, counts)


def test_a_mean_of_percentiles_is_not_the_percentile_of_all() -> None:
    quick, slow = of_values(SYSBENCH, [1.0] * 990 + [2.0] * 10), of_values(SYSBENCH, [100.0] * 1000)
    mean = (quick.percentile(95).value + slow.percentile(95).value) / 2
    assert merge([quick, slow]).percentile(95).value == pytest.approx(100, rel=0.01)
    assert mean == pytest.approx(50, rel=0.02)
    assert histograms.merge([quick]) == quick
