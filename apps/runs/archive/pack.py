"""Many small files in one, read only: to create thousands on disk takes longer than to decompress them."""

import io
import json
import shutil
from collections import defaultdict
from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path
from typing import IO

from django.core.files.base import File
from django.core.files.storage import Storage

_CONTENT, _INDEX = "content", "index.json"
Places = dict[str, tuple[int, int]]  # name -> offset and size in bytes


def pack(files: Iterable[tuple[str, IO[bytes]]], folder: Path) -> None:
    """Writes `files`, by name, into the empty `folder`."""
    places: Places = {}
    with (folder / _CONTENT).open("wb") as content:
        for name, source in files:
            start = content.tell()
            shutil.copyfileobj(source, content)
            places[name] = start, content.tell() - start
    (folder / _INDEX).write_text(json.dumps(places))


class PackedFiles(Storage):
    """What `pack` wrote into `folder`; several processes may read it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def _open(self, name: str, mode: str = "rb") -> "File[bytes]":  # noqa: ARG002 - Django's signature
        try:
            start, size = _places(self.folder)[name]
        except KeyError:
            raise FileNotFoundError(name) from None
        with (self.folder / _CONTENT).open("rb") as content:
            content.seek(start)
            return File(io.BytesIO(content.read(size)), name)

    def exists(self, name: str) -> bool:
        return name in _places(self.folder)

    def size(self, name: str) -> int:
        return _places(self.folder)[name][1]

    def listdir(self, path: str) -> tuple[list[str], list[str]]:
        folders, files = _listings(self.folder).get(path, (set(), set()))
        return list(folders), list(files)


@lru_cache(maxsize=32)
def _listings(folder: Path) -> dict[str, tuple[set[str], set[str]]]:
    """Names of the folders and files in each folder; found once, since an archive has many of both."""
    found = defaultdict[str, tuple[set[str], set[str]]](lambda: (set(), set()))
    for name in _places(folder):
        above, _, last = name.rpartition("/")
        found[above][1].add(last)
        while above:
            above, _, last = above.rpartition("/")
            found[above][0].add(last)
    return dict(found)


@lru_cache(maxsize=32)
def _places(folder: Path) -> Places:
    return {name: (start, size) for name, (start, size) in json.loads((folder / _INDEX).read_text()).items()}
