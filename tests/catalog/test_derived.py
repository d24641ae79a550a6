"""Every derived metric is computed from what servers and hosts really tell."""

import pytest

from apps.catalog.metrics import counter_rules, derived_metrics, formula
from apps.catalog.metrics.derived_metrics import ALL, DerivedSpec
from apps.catalog.metrics.standard import CURATED
from tests.support import recorded


@pytest.mark.parametrize("spec", ALL, ids=lambda spec: spec.key)
def test_every_input_is_one_that_samplers_have_sent(spec: DerivedSpec) -> None:
    keys = recorded.keys()
    for pattern in spec.formula.inputs:
        known = pattern in CURATED or any(formula.placeholders(pattern, key) is not None for key in keys)
        assert known, f"no recording and no table has {pattern}"


@pytest.mark.parametrize("spec", ALL, ids=lambda spec: spec.key)
def test_keys_under_a_star_are_of_one_kind_and_unit(spec: DerivedSpec) -> None:
    for pattern in spec.formula.inputs:
        described = [derived_metrics.describe(key)[0] for key in formula.fitting(pattern, recorded.keys())]
        assert len({(each.kind, each.unit) for each in described}) <= 1, pattern
        assert all(derived_metrics.is_counter(pattern) == (each.kind == "counter") for each in described)


@pytest.mark.parametrize("spec", ALL, ids=lambda spec: spec.key)
def test_a_share_is_in_percent_and_a_ratio_names_what_it_counts(spec: DerivedSpec) -> None:
    assert spec.unit
    assert ("100 *" in spec.formula.text) == (spec.unit == "%")
    assert spec.unit.endswith("/s") <= spec.has_rates


def test_a_metric_of_a_device_is_described_by_its_family() -> None:
    found = derived_metrics.find("derived.disk.nvme0n1.await")
    assert found is not None
    assert found.name == "disk response time (nvme0n1)"
    assert all(".nvme0n1." in key for key in found.formula.inputs)
    assert derived_metrics.find("derived.unknown") is None
    assert derived_metrics.describe("derived.unknown")[1] is False


def test_a_node_has_what_all_inputs_are_there_for() -> None:
    keys = {"host.disk.sda.io_time", "host.disk.sdb.io_time", counter_rules.STATUS + "Threads_running", "host.cpus"}
    assert [spec.key for spec in derived_metrics.available(keys)] == [
        "derived.threads.running_per_cpu",
        "derived.disk.sda.utilization",
        "derived.disk.sdb.utilization",
    ]
