"""Loops over samples: what is computed does not depend on how much there is."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from apps.runs.samples import kernels

TOTALS = st.one_of(
    arrays.arrays(np.int64, (3, 5), elements=st.integers(-(2**63), 2**63 - 1)),
    arrays.arrays(np.int64, (3, 5), elements=st.integers(0, 9)),
    arrays.arrays(np.float64, (3, 5), elements=st.floats(-1e300, 1e300)),
)


@given(TOTALS, arrays.arrays(np.float64, 4, elements=st.sampled_from([0.0, 0.5, 1.0, 20.0])))
@pytest.mark.filterwarnings("error")
def test_few_counters_have_the_rates_that_they_have_among_many(totals: kernels.Floats, seconds: kernels.Floats) -> None:
    many = np.tile(totals, (2000, 1))
    few_found, many_found = np.empty((3, 4)), np.empty((6000, 4))
    few, all_of_them = kernels.rates(totals, seconds, few_found), kernels.rates(many, seconds, many_found)
    assert np.array_equal(few, all_of_them[-3:])
    assert np.array_equal(few_found[few], many_found[-3:][few], equal_nan=True)
