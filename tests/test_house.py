"""The order of the code: small folders, short lines, one word for one thing, and pure modules that are."""

import ast
import re
import subprocess
from collections import defaultdict
from functools import cache
from pathlib import PurePosixPath

import grimp
import pytest

from tests.paths import ROOT

pytestmark = pytest.mark.needs("git")

MOST_SIBLINGS = 15
# Folders that list like things: one file (or folder) for each app, resource, page, tool, workload, recording.
LISTS = {
    "apps",
    "apps/rest",
    "apps/runs/tool_output/parsers",
    "apps/use_method/resources",
    "apps/web",
    "apps/web/templates/web",
    "frontend/src/styles",
    "tests",
    "tests/rest",
    "tests/web",
    "workers/agent/programs",
    "workers/agent/tools",
    "workers/protocol/workloads",
}
MOST_LINES = 400
LONGEST_LINE = 160  # of a template
# A component's opening with the slots that follow it at once.
_TABLE = re.compile(r"""\{% component "table"[^%]*%\}(?:\s*\{% slot \w+ %\}.*?\{% endslot %\})*""", re.DOTALL)
# The client's types of the server's answers: their names are those of the server's schema.
ANSWERS = "client/splashboard/answers/"
FRAMEWORKS = {"django", "rest_framework", "celery"}

# A noun that ends like a participle, and what is named so.
NOUNS = {"locking", "multiple_testing", "published", "saved", "wording", "reproducibility", "finding", "load_published"}


@cache
def _tracked(*patterns: str) -> tuple[PurePosixPath, ...]:
    listed = subprocess.run(["git", "ls-files", *patterns], cwd=ROOT, check=True, capture_output=True, text=True)
    return tuple(PurePosixPath(line) for line in listed.stdout.splitlines() if (ROOT / line).exists())


def _modules(*folders: str) -> list[PurePosixPath]:
    files = _tracked(*(f"{folder}/*.py" for folder in folders))
    return [file for file in files if "migrations" not in file.parts]


def test_no_folder_has_more_than_fifteen_siblings() -> None:
    siblings: defaultdict[str, set[str]] = defaultdict(set)
    for file in _tracked("apps", "workers", "tests", "frontend/src"):
        if "data" in file.parts or "migrations" in file.parts or file.name == "__init__.py":
            continue
        inner = file
        for folder in file.parents:
            siblings[str(folder)].add(re.sub(r"\.(test|fixture)?\.?ts$", "", inner.name))
            inner = PurePosixPath(folder)
    crowded = {folder: len(names) for folder, names in siblings.items() if len(names) > MOST_SIBLINGS}
    assert {folder: count for folder, count in crowded.items() if folder not in LISTS | {".", "frontend"}} == {}


def test_no_file_is_too_long_to_be_read_at_once() -> None:
    files = [file for file in _tracked("*.py") if "migrations" not in file.parts]
    lengths = {str(file): len((ROOT / file).read_text().splitlines()) for file in files}
    assert {file: length for file, length in lengths.items() if length > MOST_LINES} == {}


def test_no_class_name_has_two_meanings() -> None:
    places: defaultdict[str, list[str]] = defaultdict(list)
    for file in _modules("apps", "workers", "client", "config", "lab"):
        if str(file).startswith(ANSWERS):
            continue
        for node in ast.parse((ROOT / file).read_text()).body:
            if isinstance(node, ast.ClassDef) and node.name != "Command":  # Django's name for every command
                places[node.name].append(str(file))
    assert {name: files for name, files in places.items() if len(files) > 1} == {}


def test_modules_are_named_by_nouns_and_verbs() -> None:
    named = [file for file in _modules("apps", "workers") if file.stem not in NOUNS]
    assert [str(file) for file in named if re.search(r"(?<!str)(?<!engine)ing$|(?<!se)(?<!sp)ed$|ly$", file.stem)] == []


def _pure() -> list[str]:
    files = _modules("apps", "workers")
    said = [file for file in files if "Pure" in (ast.get_docstring(ast.parse((ROOT / file).read_text())) or "")]
    return [".".join(file.with_suffix("").parts).removesuffix(".__init__") for file in said]


def test_modules_that_say_they_are_pure_need_no_framework() -> None:
    imports = grimp.build_graph(
        "apps", "workers", include_external_packages=True, exclude_type_checking_imports=True, cache_dir=None
    )
    chains = [
        " -> ".join(imports.find_shortest_chain(module, framework) or ())
        for module in _pure()
        for framework in imports.find_upstream_modules(module) & FRAMEWORKS
    ]
    assert chains == []


def _door_names(door: PurePosixPath) -> set[str]:
    """What the door's __all__ lists."""
    for node in ast.parse((ROOT / door).read_text()).body:
        if isinstance(node, ast.Assign) and [ast.unparse(each) for each in node.targets] == ["__all__"]:
            return set(ast.literal_eval(node.value))
    raise AssertionError(f"{door} has no __all__")


Taken = tuple[str, str]  # dotted name of a door, and a name of it


def _taken(tree: ast.Module) -> set[Taken]:
    """Names that a module takes from doors: `from apps.runs.api import accept`, or `runs.accept` of a whole door."""
    nodes = list(ast.walk(tree))
    taken: set[Taken] = set()
    whole: dict[str, str] = {}
    for node in nodes:
        if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("apps."):
            taken |= {(node.module, each.name) for each in node.names}
            whole |= {each.asname or each.name: f"{node.module}.{each.name}" for each in node.names}
    attributes = (node for node in nodes if isinstance(node, ast.Attribute))
    return taken | {
        (whole[node.value.id], node.attr)
        for node in attributes
        if isinstance(node.value, ast.Name) and node.value.id in whole
    }


def test_each_door_lists_what_others_use_and_nothing_else() -> None:
    modules = _modules("apps", "workers", "bench", "config")
    taken = {file: _taken(ast.parse((ROOT / file).read_text())) for file in modules}
    unused = {}
    for door in (file for file in taken if file.parts[0] == "apps" and file.parts[2:] in (("api.py",), ("pure.py",))):
        name = ".".join(door.with_suffix("").parts)
        others = (names for file, names in taken.items() if file.parts[:2] != door.parts[:2])
        used = {each for names in others for module, each in names if module == name}
        unused[str(door)] = sorted(_door_names(door) - used)
    assert {door: names for door, names in unused.items() if names} == {}


def test_no_line_of_a_template_is_longer_than_160() -> None:
    lines = [(str(file), line) for file in _tracked("apps/*.html") for line in (ROOT / file).read_text().splitlines()]
    assert [(file, line) for file, line in lines if len(line) > LONGEST_LINE] == []


def test_breadcrumbs_are_written_by_their_component() -> None:
    files = _tracked("apps/*.html")
    by_hand = [str(file) for file in files if 'class="breadcrumbs' in (ROOT / file).read_text()]
    assert by_hand == ["apps/web/templates/web/components/breadcrumbs.html"]


def test_every_scrolling_table_has_a_name() -> None:
    files = _tracked("apps/*.html")
    opened = [(str(file), each) for file in files for each in _TABLE.findall((ROOT / file).read_text())]
    assert len(opened) > 50
    assert [(file, each) for file, each in opened if not re.search(r"label(ledby)?=|slot label|bare=True", each)] == []
