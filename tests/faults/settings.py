"""The product's settings; the disks of the server have as many bytes free as the file `free` in var/ says."""

from pathlib import Path

from apps.core.server import space
from config.settings import *  # noqa: F403
from config.settings import VAR_DIR

_real = space.free_bytes


def _free_bytes(folder: Path) -> int:
    return int(FREE.read_text()) if FREE.exists() else _real(folder)


FREE = VAR_DIR / "free"
space.free_bytes = _free_bytes
