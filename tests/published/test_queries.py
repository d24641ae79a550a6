"""What pages and published results are made of."""

from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from apps.published import queries, services
from apps.published.values import FigureFilter


@pytest.fixture
def articles(catalog: None) -> None:
    services.load_all(services.OWN_DATA)


def find(**wanted: Any) -> Any:
    (figure,) = [f for f in queries.list_figures() if all(getattr(f, k) == v for k, v in wanted.items())]
    return figure


@pytest.mark.usefixtures("articles")
def test_a_ratio_reads_as_a_sentence_with_its_qualifier_and_direction() -> None:
    figure = find(workload="stresstool_oltp", metric="execution_time")
    assert (
        figure.sentence
        == "Aurora took about 3\N{NO-BREAK SPACE}× the time of PXC (execution time, lower is better)"
    )  # fmt: skip


@pytest.mark.usefixtures("articles")
def test_a_figure_reads_with_words_number_and_unit() -> None:
    assert find(metric="latency_p95_spike").text == "about 80 to 170\N{NO-BREAK SPACE}ms"
    assert find(metric="replica_lag_peak").text == "about 18\N{NO-BREAK SPACE}s"
    assert find(metric="outcome").text == "throughput collapses; many errors 188"
    assert find(metric="threads_running").text == "32"


@pytest.mark.usefixtures("articles")
def test_listing_takes_two_queries_however_much_there_is() -> None:
    with CaptureQueriesContext(connection) as asked:
        figures = queries.list_figures()
        queries.list_questions(figures)
        queries.list_charts(figures)
        assert [figure.sentence for figure in figures]
    assert len(asked) == 2


@pytest.mark.usefixtures("articles")
def test_the_first_answer_is_the_one_that_names_most_platforms() -> None:
    failover = queries.list_questions(queries.list_figures())[0]
    assert failover.question == "failover"
    assert [f.text for f in failover.comparisons[0].figures] == [
        "15\N{NO-BREAK SPACE}s",
        "50\N{NO-BREAK SPACE}s",
        "at least 120\N{NO-BREAK SPACE}s",
    ]


@pytest.mark.usefixtures("articles")
def test_bars_stand_side_by_side_only_under_equal_conditions() -> None:
    charts = queries.list_charts(queries.list_figures())
    for chart in charts:
        groups = {bar.group for bar in chart.bars}
        assert all(len({bar.side for bar in chart.bars if bar.group == group}) >= 2 for group in groups)
    failover = next(chart for chart in charts if chart.metric_name == "service interruption")
    assert [(bar.side, bar.value) for bar in failover.bars] == [("PXC", 15), ("Aurora", 50), ("MHA", 120)]
    # Foreign keys or Galera differ: no two of these may share a chart.
    assert not any("data_load" in chart.anchor for chart in charts)
    assert not any("×" in bar.text for chart in charts for bar in chart.bars)


@pytest.mark.usefixtures("articles")
def test_witnesses_of_two_platforms_name_both() -> None:
    found = queries.figures_about(["aurora", "pxc"])
    assert {f.article.slug for f in found} == {"aurora-galera-mha-2015", "aurora-pxc-2016"}
    assert all({side.platform for side in f.sides} <= {"aurora", "pxc"} for f in found)
    interruptions = [f.value for f in found if f.metric == "service_interruption"]
    # Not the 8 s of PXC alone: no figure of Aurora stands beside it.
    assert interruptions == [15, 50]
    assert queries.figures_about(["galera", "mariadb"]) == []


@pytest.mark.usefixtures("articles")
def test_a_filter_keeps_ratios_about_the_platform_on_either_side() -> None:
    found = queries.list_figures(FigureFilter(platforms=("mha",)))
    assert {f.sentence.split(" ")[0] for f in found if f.is_ratio} == {"MHA"}
    assert len(found) == 4
    aurora = queries.list_figures(FigureFilter(platforms=("aurora",), questions=("tpcc",)))
    assert any(f.is_ratio and f.denominator and f.denominator.platform == "aurora" for f in aurora)


@pytest.mark.usefixtures("articles")
def test_narrowing_keeps_comparisons_whole() -> None:
    every = queries.list_figures()
    ddl = queries.narrowed(every, FigureFilter(platforms=("aurora",), questions=("ddl",)))
    whole = queries.narrowed(every, FigureFilter(questions=("ddl",)))
    # All but the stall, which is stated of RDS MySQL alone.
    assert [f.metric for f in whole if f not in ddl] == ["stall"]
    assert {side.platform for f in ddl for side in f.sides} == {"aurora", "rds-mysql"}
    assert queries.narrowed(every, FigureFilter(platforms=("galera",))) == []
    assert {f.id for f in queries.narrowed(every, FigureFilter())} == {f.id for f in every}


@pytest.mark.usefixtures("articles")
def test_a_table_is_a_matrix_with_aligned_digits() -> None:
    detail = queries.load_article("sysbench-engines-large-server-2017")
    assert detail is not None
    table = detail.tables[0]
    assert [head.label for head in table.heads] == [
        "test",
        "MyRocks ÷ InnoDB 5.6.35",
        "InnoDB 5.7.17 ÷ InnoDB 5.6.35",
        "TokuDB ÷ InnoDB 5.6.35",
    ]
    assert [cell.label for cell in table.rows[1]] == ["update-nonindex", "1.103", "1.210", "0.482"]
    assert detail.figures == ()


@pytest.mark.usefixtures("articles")
def test_what_a_table_does_not_state_is_said_in_words() -> None:
    detail = queries.load_article("ec2-instance-store-2018")
    assert detail is not None
    assert [cell.label for cell in detail.tables[0].rows[1]] == ["i3.4xlarge", "625.61", "not stated", "627.21"]


@pytest.mark.django_db
def test_an_unknown_article_is_none() -> None:
    assert queries.load_article("nothing") is None


@pytest.mark.usefixtures("articles")
def test_a_third_that_is_approximate_claims_two_digits_and_keeps_the_stated_ones_for_who_asks() -> None:
    figure = next(f for f in queries.list_figures() if f.value == 0.333)
    assert figure.text == "about 0.33\N{NO-BREAK SPACE}×"
    assert "about 0.33\N{NO-BREAK SPACE}×" in figure.sentence
    assert "about 0.333\N{NO-BREAK SPACE}×" in figure.exact_sentence
    assert find(workload="noisy_neighbour", unit="ratio").text == "about 1.05\N{NO-BREAK SPACE}×"
