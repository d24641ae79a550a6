"""A log apart from its report: whether it has the report's transactions, as far as its intervals tell."""

import pytest

from apps.runs.tool_output.foreign import THROUGHPUT, TRANSACTIONS, lacking_transactions, output_of
from apps.runs.tool_output.parsers.parsed_output import ParsedOutput, ParsedValue
from apps.runs.tool_output.values import Output


def an_output(*, transactions: float, throughput: float, rates: tuple[float, ...] = ()) -> Output:
    stated = ((TRANSACTIONS, transactions), (THROUGHPUT, throughput))
    parsed = ParsedOutput(
        values=tuple(ParsedValue(metric, value, 0, 0) for metric, value in stated),
        clock=tuple(1.0 + number for number in range(len(rates))),
        series={THROUGHPUT: rates},
    )
    return output_of(parsed, parser="pgbench", version="1")


@pytest.mark.parametrize(
    ("said", "rates", "lacks"),
    [
        # pgbench does not log the interval in which it ends: here most of 1.6 s.
        (28_595, (11_044.0,), False),
        (182_053, (11_044.0,), True),
        (182_053, (18_000.0,) * 9, False),
        (182_053, (9_000.0,) * 9, True),
    ],
)
def test_a_log_may_lack_the_interval_in_which_the_run_ended(said: int, rates: tuple[float, ...], lacks: bool) -> None:
    report = an_output(transactions=said, throughput=18_205.3)
    log = an_output(transactions=sum(rates), throughput=0.0, rates=rates)
    assert bool(lacking_transactions(report, log)) == lacks
