"""Whether an output fits the description that it was submitted with."""

from collections.abc import Mapping
from typing import Any

from apps.catalog.models import LoadLevel, Workload
from apps.runs.ingest.accept import Refused
from apps.runs.tool_output.formats import SubmittedOutput
from apps.runs.tool_output.parsers import sysbench

# sysbench's tests by their statements, and the options that can remove statements from oltp_read_write.
READ_TESTS = ("oltp_point_select", "oltp_read_only")
WRITE_TESTS = ("oltp_write_only", "oltp_insert", "oltp_update_index")
BOTH_TEST = "oltp_read_write"
MIX_OPTIONS = {
    *("point_selects", "range_selects", "simple_ranges", "sum_ranges", "order_ranges", "distinct_ranges"),
    *("index_updates", "non_index_updates", "delete_inserts"),
}


def check_sysbench(
    parsed: sysbench.ParsedSysbench, *, workload: Workload, load_level: LoadLevel, warmup: float | None
) -> float:
    """The warm-up, by default until the output's last checkpoint. Raises Refused when the description contradicts the
    output."""
    if parsed.threads is not None and parsed.threads != load_level.threads:
        raise Refused("load_level.threads", f"is {load_level.threads}, but the output has {parsed.threads}")
    if parsed.threads is not None and parsed.rate != load_level.rate:
        raise Refused("load_level.rate", f"is {load_level.rate}, but the output has {parsed.rate}")
    begin = parsed.checkpoints[-1].second if parsed.checkpoints else warmup or 0.0
    warmup = begin if warmup is None else warmup
    remedy = f"run sysbench with --report-checkpoints={warmup:g}, or give 0"
    cut = bool(parsed.checkpoints) or not parsed.complete
    require(warmup == 0 or cut, "warmup", f"is {warmup:g} s, but the totals cover it too: {remedy}")
    require(abs(begin - warmup) <= 1, "warmup", f"is {warmup:g} s, but the totals begin at the checkpoint at {begin} s")
    _check_mix(parsed, workload.parameters)
    return warmup


def _check_mix(parsed: sysbench.ParsedSysbench, parameters: Mapping[str, Any]) -> None:
    """Raises Refused when the totals do not fit the test, such as writes of a read-only one; unknown tests may have any
    mix."""
    if not {"reads", "writes", "transactions"} <= parsed.totals.keys():
        return
    test = str(parameters.get("test"))
    reads, writes = (int(parsed.totals[name].value) for name in ("reads", "writes"))
    counts = f"is {test}, but the output counts {reads:,} reads and {writes:,} writes"
    remedy = "name the test that printed it, or send the output of this one"
    ran_both = (
        bool(reads and writes) or not parsed.totals["transactions"].value or bool(MIX_OPTIONS & parameters.keys())
    )
    possible = {**dict.fromkeys(READ_TESTS, not writes), **dict.fromkeys(WRITE_TESTS, not reads), BOTH_TEST: ran_both}
    require(possible.get(test, True), "workload.parameters.test", f"{counts}: {remedy}")


def check_foreign(
    submitted: SubmittedOutput, *, workload: Workload, load_level: LoadLevel, warmup: float | None
) -> float:
    """The warm-up stated in the output. Raises Refused when the description contradicts the output."""
    for name, stated in submitted.parameters.items():
        given = workload.parameters.get(name)
        described = "is not in the description" if given is None else f"is {given}"
        require(
            given == stated,
            f"workload.parameters.{name}",
            f"{described}, but the output has {stated}: omit the parameters that the output states, or choose another "
            "workload",
        )
    if submitted.threads is not None and submitted.threads != load_level.threads:
        raise Refused("load_level.threads", f"is {load_level.threads}, but the output has {submitted.threads}")
    stated = submitted.output.measured[0] if submitted.output.measured else 0.0
    text = f"the output states one of {stated:g} s" if stated else "the output states none, and its totals cover all"
    require(warmup in (None, 0, stated), "warmup", f"is {warmup or 0:g} s, but {text}: omit it")
    return stated


def require(holds: bool, field: str, message: str) -> None:
    if not holds:
        raise Refused(field, message)
