"""Bills of materials in CycloneDX, of the server and of the pages: `python -m config.supply_chain.bills`."""

import subprocess
import sys
from pathlib import Path

from config.launch import environment, frontend, places, processes
from config.launch.places import FRONTEND, ROOT, VENV


def write(folder: Path) -> list[Path]:
    """server.cdx.json and frontend.cdx.json. Raises CalledProcessError."""
    folder.mkdir(parents=True, exist_ok=True)
    server, pages = folder / "server.cdx.json", folder / "frontend.cdx.json"
    argv: list[str | Path] = [VENV / "bin" / "cyclonedx-py", "requirements", "--output-reproducible"]
    argv += ["--output-format", "JSON", "--output-file", server, environment.SERVER_LOCK]
    subprocess.run(argv, env=processes.clean_environment(), cwd=ROOT, check=True)
    node = frontend.find_node()
    argv = [*frontend.npm(node), "sbom", "--sbom-format", "cyclonedx", "--omit", "dev", "--package-lock-only"]
    said = subprocess.run(argv, env=frontend.environ(node), cwd=FRONTEND, check=True, capture_output=True, text=True)
    pages.write_text(said.stdout)
    return [server, pages]


def main() -> int:
    for path in write(places.from_environment().var / "sbom"):
        print(path)
    return 0


if __name__ == "__main__":
    sys.exit(main())
