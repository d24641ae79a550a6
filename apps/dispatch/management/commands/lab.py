"""`manage.py lab up|status|down NAME…`: real systems on this machine. Runs the separate program `python -m lab`."""

import argparse
import os
import subprocess
import sys
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandParser


class Command(BaseCommand):
    help = "Start, show or stop real systems to measure on this machine."
    requires_system_checks = ()

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--install", action="store_true", help="install missing packages (as root on Debian)")
        parser.add_argument(
            "arguments", nargs=argparse.REMAINDER, help="as for `python -m lab`, for example: up galera"
        )

    def handle(self, *_args: Any, **options: Any) -> None:
        install = ["--install"] if options["install"] else []
        argv = [sys.executable, "-m", "lab", *install, *options["arguments"]]
        environment = {**os.environ, "SPLASHBOARD_VAR": str(settings.VAR_DIR)}
        sys.exit(subprocess.run(argv, cwd=settings.BASE_DIR, env=environment, check=False).returncode)
