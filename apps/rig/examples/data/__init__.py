"""The archives of the study's parts, in the format of `export_runs`."""

from pathlib import Path

FOLDER = Path(__file__).resolve().parent
# The schedule of the part `nightly`, of which archives of runs know nothing.
HISTORY = "nightly.json"


def archive_of(part: str, folder: Path = FOLDER) -> Path:
    return folder / f"{part}.zip"


def archives(folder: Path = FOLDER) -> list[Path]:
    return sorted(folder.glob("*.zip"))
