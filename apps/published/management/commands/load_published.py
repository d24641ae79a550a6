"""Loads published results: those shipped with the product, or the given files and folders."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from apps.core.text import counted
from apps.published import services


class Command(BaseCommand):
    help = "Load published results from YAML files (docs/reference/published-format.md). Unchanged files touch nothing."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("paths", nargs="*", type=Path, help="files or folders; default: those of the product")

    def handle(self, *_args: Any, paths: list[Path], **_options: Any) -> None:
        refused = 0
        articles = 0
        for path in paths or [services.OWN_DATA]:
            try:
                loaded = services.load_all(path) if path.is_dir() else [services.load_file(path)]
            except services.MalformedFile as error:
                refused += 1
                self.stderr.write(f"Refused, not stored: {error}")
            else:
                articles += len(loaded)
        self.stdout.write(f"Published results: {counted(articles, 'article')} loaded.")
        if refused:
            raise CommandError(f"{refused} refused; correct the files named above and load again")
