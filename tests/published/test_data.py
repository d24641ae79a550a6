"""The product's own files hold every figure of their articles: counts by file, and values looked up by hand."""

from typing import Any

import pytest

from apps.published import queries, services
from apps.published.models import Article, Figure
from apps.published.parse import read

# Figures with a number, and figures that state something in words only, counted by hand in the articles' summaries.
HELD = {
    "aurora-galera-mha-2015": (15, 0),
    "aurora-pxc-2016": (10, 2),
    # 3 statements x 2 sides, 3 numbers x 2 sides under load, 2 ratios, a stall, a spike and its length.
    "ddl-under-load-2017": (17, 0),
    # 5 rows x 8 columns, 4 ratios to one thread, both ends of the best concurrency.
    "disk-saturation-fileio-2017": (46, 0),
    # 3 totals, 3 instances, 1 storage; 2 compression ratios.
    "ec2-instance-store-2018": (9, 0),
    "ec2-instance-types-2019": (2, 1),
    # 3 times, 2 profiles of 5 functions.
    "galera-foreign-key-load-2015": (13, 0),
    "iibench-ec2-2012": (2, 0),
    # 3 numbers of connections x 12 tests x 3 engines.
    "sysbench-engines-large-server-2017": (108, 0),
}


@pytest.fixture
def articles(catalog: None) -> None:
    services.load_all(services.OWN_DATA)


@pytest.mark.usefixtures("articles")
def test_every_file_holds_all_its_figures() -> None:
    held = {
        article.slug: (
            article.figures.exclude(qualifier="").count(),
            article.figures.filter(qualifier="").count(),
        )
        for article in Article.objects.all()
    }
    assert held == HELD


def test_every_file_is_named_after_its_article() -> None:
    for path in services.OWN_DATA.glob("*.yaml"):
        assert read(path.name, path.read_bytes()).slug == path.stem


ENGINES = "sysbench-engines-large-server-2017"
POINT_48, INDEX_8 = {"connections": 48, "test": "point-query"}, {"connections": 8, "test": "update-index"}
FIGURES: list[tuple[str, dict[str, Any], tuple[float, str, str]]] = [
    ("aurora-galera-mha-2015", {"side": "MHA", "metric__key": "service_interruption"}, (120, "at_least", "s")),
    ("aurora-galera-mha-2015", {"side": "MHA", "metric__key": "execution_time"}, (281, "exact", "s")),
    ("aurora-galera-mha-2015", {"workload": "tpcc_mysql"}, (2.6, "approx", "ratio")),
    ("aurora-galera-mha-2015", {"metric__key": "replica_lag_peak"}, (18, "approx", "s")),
    ("aurora-pxc-2016", {"metric__key": "speedup", "qualifier": "at_most"}, (7, "at_most", "ratio")),
    ("aurora-pxc-2016", {"metric__key": "threads_reached", "side": "Aurora"}, (15500, "approx", "count")),
    ("ddl-under-load-2017", {"side": "RDS MySQL", "conditions__statement": "drop column"}, (901.76, "exact", "s")),
    ("ddl-under-load-2017", {"metric__key": "latency_stddev", "unit": "ratio"}, (25.4, "exact", "ratio")),
    ("ddl-under-load-2017", {"metric__key": "stall"}, (15, "approx", "s")),
    ("disk-saturation-fileio-2017", {"value": 268.3}, (268.3, "exact", "requests")),
    ("disk-saturation-fileio-2017", {"numerator": "256 threads"}, (13.9, "exact", "ratio")),
    ("ec2-instance-store-2018", {"metric__key": "cost_storage"}, (1400, "exact", "USD/month")),
    ("ec2-instance-store-2018", {"conditions__data": "binary logs"}, (3.75, "exact", "ratio")),
    ("ec2-instance-types-2019", {"metric__key": "qps_drop"}, (0.9, "approx", "fraction")),
    ("galera-foreign-key-load-2015", {"side": "PXC's server, Galera off"}, (77, "exact", "s")),
    ("galera-foreign-key-load-2015", {"conditions__function": "libgcc_s"}, (35.71, "exact", "%")),
    ("iibench-ec2-2012", {"conditions__secondary_indexes": 3}, (9000, "approx", "rows/s")),
    (ENGINES, {"numerator": "TokuDB", "conditions": POINT_48}, (0.089, "exact", "ratio")),
    (ENGINES, {"numerator": "MyRocks", "conditions": INDEX_8}, (4.892, "exact", "ratio")),
]  # fmt: skip


@pytest.mark.usefixtures("articles")
def test_figures_are_as_the_articles_state_them() -> None:
    for slug, where, stated in FIGURES:
        figure = Figure.objects.get(article__slug=slug, **where)
        assert (figure.value, figure.qualifier, figure.unit) == stated, (slug, where)


@pytest.mark.usefixtures("articles")
def test_no_figure_has_a_value_beside_a_ratio() -> None:
    for figure in queries.list_figures():
        assert figure.is_ratio == (figure.side is None and figure.numerator is not None and figure.value is not None)


@pytest.mark.usefixtures("articles")
def test_ranges_parts_and_silence_are_kept() -> None:
    spike = Figure.objects.get(metric__key="latency_p95_spike")
    assert (spike.value, spike.low, spike.high, spike.qualifier) == (None, 80, 170, "approx")
    rows = Figure.objects.get(metric__key="rows_per_second", conditions__secondary_indexes=0)
    assert (rows.value, rows.low, rows.high) == (25000, 25000, 26000)
    assert rows.conditions["table_gb"] == 56
    detection = Figure.objects.get(article__slug="aurora-pxc-2016", metric__key="service_interruption")
    assert detection.of_which == {"proxy_detection": 6}
    outcome = Figure.objects.get(metric__key="outcome")
    assert (outcome.value, outcome.note) == (None, "throughput collapses; many errors 188")


@pytest.mark.usefixtures("articles")
def test_the_rest_of_each_article_is_kept() -> None:
    setup = {article.slug: article.setup for article in Article.objects.all()}
    tusa = setup["aurora-galera-mha-2015"]
    assert tusa["topology"] == {
        "application_instances": 6,
        "haproxy": 6,
        "mha_monitor": 1,
        "availability_zones": "several",
    }
    assert tusa["bottlenecks"][1]["saturated"] == ["disk", "galera_flow_control"]
    assert tusa["sides"]["aurora"]["replication"] == "shared storage, 6 copies, quorum 4"
    second = setup["aurora-pxc-2016"]
    assert second["sides"]["aurora"]["connection_limit"] == 16000
    assert second["load_levels"][2]["threads"] == [4000, 8000, 12000, 16000, 20000]
    assert second["errors"] == [{"workload": "tpcc_mysql", "side": "aurora", "code": 188}]
    assert setup["ddl-under-load-2017"]["workloads"]["ddl_under_load"]["parameters"]["warmup_s"] == 600
    assert "not exactly one second" in setup["disk-saturation-fileio-2017"]["notes"][0]
    assert setup["galera-foreign-key-load-2015"]["releases"][0] == "Percona XtraDB Cluster 5.6.21-25.8"
    assert setup["iibench-ec2-2012"]["workloads"]["iibench"]["parameters"]["partitions"] == 11
