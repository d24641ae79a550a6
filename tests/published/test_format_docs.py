"""docs/reference/published-format.md keeps its promises: its example loads, and it names every field."""

import re
from pathlib import Path

import msgspec
import pytest

from apps.published import format as fields
from apps.published import services
from tests.paths import DOCS

PAGE = DOCS / "reference" / "published-format.md"


@pytest.mark.usefixtures("catalog")
def test_the_example_loads(tmp_path: Path) -> None:
    example = re.search(r"```yaml\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    assert example is not None
    path = tmp_path / "example.yaml"
    path.write_text(example.group(1), encoding="utf-8")
    article = services.load_file(path)
    assert article.figures.count() == 4 + 3


def test_every_field_is_explained() -> None:
    text = PAGE.read_text(encoding="utf-8")
    explained = set(re.findall(r"`(\w+)`", text))
    kinds: list[type[msgspec.Struct]] = [
        fields.File,
        fields.ArticleSource,
        fields.ArticleHardware,
        fields.ArticleSide,
        fields.WorkloadEntry,
        fields.FigureEntry,
        fields.TableEntry,
        fields.FigureColumn,
        fields.StatedBottleneck,
        fields.StatedLoadLevels,
        fields.StatedError,
    ]
    known = {field.name for kind in kinds for field in msgspec.structs.fields(kind)}
    assert known - explained == set()


def test_every_question_and_qualifier_is_named() -> None:
    text = PAGE.read_text(encoding="utf-8")
    assert ", ".join(fields.QUESTIONS) in text
    assert all(f"`{qualifier}`" in text for qualifier in fields.QUALIFIERS)
