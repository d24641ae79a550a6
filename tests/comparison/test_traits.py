"""What two runs on one host share, and what passes."""

from apps.comparison.traits import lasting_facts


def test_how_far_a_host_s_clock_is_ahead_makes_no_other_host() -> None:
    known = {"name": "vm", "cpus": 2, "clock_ahead_seconds": 0.0004, "clock_uncertainty_seconds": 0.001}
    assert lasting_facts(known) == {"name": "vm", "cpus": 2}
