"""The archives of the study's parts, in the compact format of `export_runs`."""

from pathlib import Path

from apps.runs.api import archive

FOLDER = Path(__file__).resolve().parent
# The schedule of the part `nightly`, of which archives of runs know nothing.
HISTORY = "nightly.json"


def archive_of(part: str, folder: Path = FOLDER) -> Path:
    return folder / f"{part}.tar.xz"


def archives(folder: Path = FOLDER) -> list[Path]:
    return sorted(each for each in folder.iterdir() if each.name.endswith(archive.FILE_SUFFIXES))
