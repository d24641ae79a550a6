"""A file is stored whole or refused whole, naming file, entry and field."""

from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from apps.published import services
from apps.published.models import Article, Figure
from apps.published.parse import _ArticleReader
from apps.published.services import MalformedFile
from tests.published.files import VALID, a_file

FIRST = VALID["figures"][0]


@pytest.mark.usefixtures("catalog")
def test_a_file_becomes_an_article_with_its_figures(tmp_path: Path) -> None:
    article = services.load_file(a_file(tmp_path))
    absolute, ratio = article.figures.order_by("id")
    assert (article.slug, article.author, article.published) == ("example-2026", "A. Writer", "2026-03-01")
    assert (absolute.entry, absolute.value, absolute.qualifier, absolute.side) == ("figures[0]", 12, "approx", "PXC")
    assert absolute.platform is not None
    assert (absolute.platform.slug, absolute.question) == ("pxc", "failover")
    assert absolute.of_which == {"proxy_detection": 6}
    # A side with one machine gives its figures that machine.
    assert absolute.hardware_class is not None
    assert absolute.hardware_class.slug == "m4.xlarge"
    assert (ratio.unit, ratio.numerator, ratio.denominator, ratio.side) == ("ratio", "PXC", "Aurora", "")
    assert ratio.numerator_platform is not None
    assert ratio.numerator_platform.slug == "pxc"


@pytest.mark.usefixtures("catalog")
def test_an_unchanged_file_touches_nothing(tmp_path: Path) -> None:
    path = a_file(tmp_path)
    services.load_file(path)
    before = list(Figure.objects.values_list("id", flat=True))
    services.load_file(path)
    assert list(Figure.objects.values_list("id", flat=True)) == before


@pytest.mark.usefixtures("catalog")
def test_a_changed_file_replaces_the_figures(tmp_path: Path) -> None:
    first = services.load_file(a_file(tmp_path))
    second = services.load_file(a_file(tmp_path, ("figures.0.value", 13), ("figures.1", ...)))
    assert second.pk == first.pk
    assert [figure.value for figure in second.figures.all()] == [13]
    assert Article.objects.count() == 1


@pytest.mark.usefixtures("catalog")
def test_a_refused_file_leaves_what_was_loaded_before(tmp_path: Path) -> None:
    services.load_file(a_file(tmp_path))
    with pytest.raises(MalformedFile):
        services.load_file(a_file(tmp_path, ("source.title", "Another title"), ("figures.1.metric", "unheard_of")))
    article = Article.objects.get()
    assert (article.title, article.figures.count()) == ("An example", 2)


REFUSED: list[tuple[str, list[tuple[str, Any]], str, str, str]] = [
    ("unknown field", [("figures.0.sde", "pxc")], "figures[0]", "sde", "unknown field"),
    ("unknown field of a side", [("sides.pxc.colour", "red")], "sides.pxc", "colour", "unknown field"),
    ("unknown field of the file", [("figure", [])], "", "figure", "unknown field"),
    ("missing metric", [("figures.0.metric", ...)], "figures[0]", "metric", "missing"),
    ("missing workloads", [("workloads", ...)], "", "workloads", "missing"),
    ("value that is a word", [("figures.0.value", "twelve")], "figures[0]", "value", "float"),
    ("value that is not finite", [("figures.0.value", float("nan"))], "figures[0]", "value", "finite"),
    *(
        (f"{number} in {entry}", [(path, {"limit": number})], entry, "limit", "finite")
        for number in (float("inf"), float("nan"))
        for path, entry in (
            ("figures.0.conditions", "figures[0].conditions"),
            ("topology", "topology"),
            ("workloads.oltp.parameters", "workloads.oltp.parameters"),
        )
    ),
    ("part that is not finite", [("figures.0.of_which.of", float("inf"))], "figures[0].of_which", "of", "finite"),
    ("number too large", [("conditions", {"rows": 10**30})], "conditions", "rows", "within"),
    *(
        (f"NUL in {path}", [(path, value)], entry, field, "NUL")
        for path, value, entry, field in (
            ("source.title", "a\0", "source", "title"),
            ("notes", ["a\0"], "", "notes[0]"),
            ("conditions", {"a\0": 1}, "", "conditions"),
            ("sides.pxc.platform", "px\0c", "sides.pxc", "platform"),
            ("figures.0.metric", "\0", "figures[0]", "metric"),
        )
    ),
    ("long workload", [("workloads", {"w" * 81: {"question": "oltp"}})], "workloads", "w" * 80 + "…", "at most 80"),
    (
        "long unit of a note",
        [("figures.0", {"workload": "oltp", "metric": "outcome", "unit": "u" * 41, "note": "failed"})],
        "figures[0]",
        "unit",
        "at most 40",
    ),
    ("unknown format", [("format", 2)], "", "format", "use 1"),
    ("bad slug", [("slug", "Example 2026")], "", "slug", "name-2026"),
    ("bad qualifier", [("figures.0.qualifier", "roughly")], "figures[0]", "qualifier", "exact, approx"),
    ("number without qualifier", [("figures.0.qualifier", ...)], "figures[0]", "qualifier", "one of"),
    ("ratio without denominator", [("figures.1.denominator", ...)], "figures[1]", "denominator", "names"),
    ("ratio without numerator", [("figures.1.numerator", ...)], "figures[1]", "numerator", "names"),
    ("ratio to itself", [("figures.1.denominator", "pxc")], "figures[1]", "denominator", "differ"),
    ("ratio with an absolute side", [("figures.1.side", "pxc")], "figures[1]", "side", "no absolute value"),
    ("absolute value with a ratio's side", [("figures.0.numerator", "pxc")], "figures[0]", "numerator", "unit ratio"),
    ("unknown platform", [("sides.pxc.platform", "oracle")], "sides.pxc", "platform", "not in the catalog"),
    ("unknown metric", [("figures.0.metric", "speed")], "figures[0]", "metric", "not in the catalog"),
    (
        "unknown hardware class",
        [("hardware.small.hardware_class", "m9.huge")],
        "hardware.small",
        "hardware_class",
        "not in the catalog",
    ),
    ("unknown side", [("figures.0.side", "mha")], "figures[0]", "side", "described are: pxc, aurora"),
    ("unknown workload", [("figures.0.workload", "tpcc")], "figures[0]", "workload", "described are"),
    ("unknown machine", [("figures.0.hardware", "large")], "figures[0]", "hardware", "described are: small"),
    ("unknown machine of a side", [("sides.pxc.hardware", ["large"])], "sides.pxc", "hardware", "described"),
    ("unknown question", [("workloads.oltp.question", "speed")], "workloads.oltp", "question", "failover, ingest"),
    ("wrong unit", [("figures.0.unit", "ms")], "figures[0]", "unit", "'s', the unit of service_interruption"),
    ("missing unit", [("figures.0.unit", ...)], "figures[0]", "unit", "must be 's'"),
    ("bad date", [("source.published", "March 2026")], "source", "published", "YYYY-MM-DD"),
    ("month that does not exist", [("source.published", "2026-13")], "source", "published", "YYYY-MM-DD"),
    ("bad date of the tests", [("source.tested", "2026-3")], "source", "tested", "YYYY-MM-DD"),
    ("address that is none", [("source.address", "javascript:alert(1)")], "source", "address", "https://"),
    ("empty title", [("source.title", "")], "source", "title", "1 to 200"),
    ("duplicate entry", [("figures.2", FIRST)], "figures[2]", "", "duplicates figures[0]"),
    ("same entry, other value", [("figures.2", {**FIRST, "value": 99})], "figures[2]", "", "duplicates figures[0]"),
    ("nothing stated", [("figures.0.value", ...), ("figures.0.qualifier", ...)], "figures[0]", "value", "a note"),
    ("half a range", [("figures.0.low", 10)], "figures[0]", "high", "low needs high"),
    ("range upside down", [("figures.0.low", 20), ("figures.0.high", 10)], "figures[0]", "low", "not be above"),
    ("side without a key", [("sides.", {"name": "MHA"})], "sides", "", "must not be empty"),
    (
        "bottleneck of nothing",
        [("bottlenecks", [{"workload": "oltp", "side": "pxc", "saturated": []}])],
        "bottlenecks[0]",
        "saturated",
        "at least one resource",
    ),
    (
        "bottleneck of nobody",
        [("bottlenecks", [{"workload": "oltp", "side": "mha", "saturated": ["cpu"]}])],
        "bottlenecks[0]",
        "side",
        "described are",
    ),
]


@pytest.mark.usefixtures("catalog")
@pytest.mark.parametrize(
    ("changes", "entry", "field", "words"), [row[1:] for row in REFUSED], ids=[row[0] for row in REFUSED]
)
def test_a_malformed_file_is_refused_by_entry_and_field(
    tmp_path: Path, changes: list[tuple[str, Any]], entry: str, field: str, words: str
) -> None:
    with pytest.raises(MalformedFile) as refused:
        services.load_file(a_file(tmp_path, *changes))
    error = refused.value
    assert (error.file, error.entry, error.field) == ("example.yaml", entry, field)
    assert words in error.message
    assert str(error).startswith("example.yaml: ")
    assert not Article.objects.exists()


TABLE = {
    "title": "By threads",
    "workload": "oltp",
    "columns": [{"axis": "threads"}, {"metric": "latency_p95", "unit": "ms", "side": "pxc"}],
    "rows": [[16, 8.2], [64, None]],
}


@pytest.mark.usefixtures("catalog")
def test_what_only_the_database_refuses_is_refused_as_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_ArticleReader, "check_scalars", lambda *_: None)
    services.load_file(a_file(tmp_path))
    with pytest.raises(MalformedFile, match="cannot be stored"):
        services.load_file(a_file(tmp_path, ("notes", ["a\0"])))
    assert Article.objects.get().figures.count() == 2


@pytest.mark.usefixtures("catalog")
def test_a_table_gives_a_figure_per_stated_cell(tmp_path: Path) -> None:
    article = services.load_file(a_file(tmp_path, ("tables", [TABLE])))
    (figure,) = article.figures.filter(metric__key="latency_p95")
    assert (figure.entry, figure.value, figure.qualifier) == ("tables[0].rows[0][1]", 8.2, "exact")
    assert figure.conditions == {"threads": 16}


@pytest.mark.usefixtures("catalog")
@pytest.mark.parametrize(
    ("change", "entry", "field"),
    [
        ({"title": " "}, "tables[0]", "title"),
        ({"columns": []}, "tables[0]", "columns"),
        ({"rows": []}, "tables[0]", "rows"),
        ({"rows": [[16]]}, "tables[0].rows[0]", ""),
        ({"rows": [[16, "fast"]]}, "tables[0].rows[0]", "latency_p95"),
        ({"rows": [[None, 8.2]]}, "tables[0].rows[0]", "threads"),
        ({"columns": [{"axis": "side"}, {"metric": "latency_p95", "unit": "ms"}], "rows": [["mha", 8]]},
         "tables[0].rows[0]", "side"),
        ({"columns": [{"axis": "side"}, {"metric": "latency_p95", "unit": "ms"}], "rows": [["mha", None]]},
         "tables[0].rows[0]", "side"),
        ({"columns": [{"axis": "side"}, {"metric": "latency_p95", "unit": "ratio", "numerator": "pxc",
          "denominator": "aurora"}], "rows": [["mha", 8]]}, "tables[0].rows[0]", "side"),
        ({"columns": [{"axis": "side"}, {"metric": "latency_p95", "unit": "ms"}], "rows": [[None, None]]},
         "tables[0].rows[0]", "side"),
        ({"columns": [{"axis": "threads", "metric": "latency_p95"}, {}]}, "tables[0].columns[0]", "metric"),
        ({"rows": [[16, 8.2], [16, 8.3]]}, "tables[0].rows[1][1]", ""),
    ],
    ids=["no title", "no columns", "no rows", "short row", "word for a number", "axis without value", "unknown side",
         "unknown side of nothing", "unknown side of a ratio", "no side", "axis and metric", "row twice"],
)  # fmt: skip
def test_a_malformed_table_is_refused_by_row(tmp_path: Path, change: dict[str, Any], entry: str, field: str) -> None:
    with pytest.raises(MalformedFile) as refused:
        services.load_file(a_file(tmp_path, ("tables", [{**TABLE, **change}])))
    assert (refused.value.entry, refused.value.field) == (entry, field)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("format: 1\nslug: [", "line 2"),
        ("slug: a\nslug: b\n", "'slug' is given twice"),
        ("- 1\n- 2\n", "must be a mapping"),
        ("!!python/object/apply:os.system ['true']", "is not YAML"),
        ("a: \xff", "is not YAML"),
    ],
    ids=["broken", "key twice", "list", "code", "not UTF-8"],
)
@pytest.mark.django_db
def test_what_is_no_such_yaml_is_refused_with_its_line(tmp_path: Path, text: str, words: str) -> None:
    path = tmp_path / "broken.yaml"
    path.write_bytes(text.encode("latin-1"))
    with pytest.raises(MalformedFile, match=r"broken\.yaml") as refused:
        services.load_file(path)
    assert words in str(refused.value)


@pytest.mark.django_db
def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(MalformedFile, match=r"absent\.yaml: cannot be read"):
        services.load_file(tmp_path / "absent.yaml")


@pytest.mark.usefixtures("catalog")
def test_two_files_with_one_slug_are_refused_and_none_is_stored(tmp_path: Path) -> None:
    a_file(tmp_path, name="a.yaml")
    a_file(tmp_path, ("source.title", "Another"), name="b.yaml")
    with pytest.raises(MalformedFile, match=r"also that of a\.yaml"):
        services.load_all(tmp_path)
    assert not Article.objects.exists()


@pytest.mark.usefixtures("catalog")
def test_the_command_loads_the_good_and_names_the_bad(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    good = a_file(tmp_path, name="good.yaml")
    bad = a_file(tmp_path, ("slug", "other-2026"), ("figures.0.qualifier", "roughly"), name="bad.yaml")
    with pytest.raises(CommandError, match="1 refused"):
        call_command("load_published", str(bad), str(good))
    assert "bad.yaml: figures[0].qualifier: 'roughly'" in capsys.readouterr().err
    assert [article.slug for article in Article.objects.all()] == ["example-2026"]
