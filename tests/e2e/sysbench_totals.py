"""A second, independent reading of sysbench's totals, so that the product's parser is not its own witness."""

import math
import re
import warnings
from dataclasses import dataclass

import numpy as np
from scipy import stats


@dataclass(frozen=True)
class Totals:
    throughput: float  # transactions/s, as sysbench prints it for the part after the last checkpoint
    p95: float  # ms


def read_totals(output: str) -> Totals:
    """Of the last report in `output`."""
    throughput = re.findall(r"transactions:\s+\d+\s+\((\S+) per sec\.\)", output)[-1]
    p95 = re.findall(r"95th percentile:\s+(\S+)", output)[-1]
    return Totals(float(throughput), float(p95))


def ratio_with_interval(baseline: list[float], side: list[float]) -> tuple[float, float, float] | None:
    """Ratio side/baseline with its 95 % interval: Welch's t on logarithms, by scipy. None when neither side's values
    differ at all: sysbench reads percentiles from a grid of 1.8 % steps, so that happens on a quiet machine."""
    if len(set(baseline)) == len(set(side)) == 1:
        return None
    with warnings.catch_warnings():
        # Equal values on one side are no loss of precision here: their variance is 0.
        warnings.filterwarnings("ignore", message="Precision loss occurred", category=RuntimeWarning)
        found = stats.ttest_ind(np.log(side), np.log(baseline), equal_var=False).confidence_interval(0.95)
    middle = np.mean(np.log(side)) - np.mean(np.log(baseline))
    return math.exp(middle), math.exp(found.low), math.exp(found.high)
