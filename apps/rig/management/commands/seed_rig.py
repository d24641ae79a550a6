"""`manage.py seed_rig --runs N --series M`: a synthetic warehouse for testing this installation at scale."""

import os
import time
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from apps.core.problems import Invalid
from apps.rig import services
from apps.rig.make_runs import Shape

PROGRESS_EVERY = 2.0  # s


class Command(BaseCommand):
    help = (
        "Make a warehouse of synthetic runs, replayed from recordings of real servers with perturbation. Nothing is "
        "measured; every run is labelled (tag and provenance “rig”). --remove deletes them."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--runs", type=int, default=1000)
        parser.add_argument("--series", type=int, default=10, help="number of changing series per run")
        parser.add_argument("--seconds", type=int, default=100, help="samples per series, one per second")
        parser.add_argument("--seed", type=int, default=1, help="the same seed makes the same warehouse")
        parser.add_argument("--processes", type=int, default=min(2, os.cpu_count() or 1))
        parser.add_argument("--add", action="store_true", help="allow other runs in the warehouse")
        parser.add_argument("--remove", action="store_true", help="delete the rig's runs and their catalog entries")

    def handle(self, **options: Any) -> None:
        started = time.monotonic()
        if options["remove"]:
            try:
                for done in services.remove():
                    self.stdout.write(f"{done:,} runs removed")
            except Invalid as error:  # a backup is being made
                raise CommandError(str(error)) from error
            self.stdout.write("No run of the rig remains.")
            return
        runs, shape = options["runs"], Shape(options["series"], options["seconds"])
        for name, least in (("runs", 1), ("series", 2), ("seconds", 20), ("processes", 1)):
            if options[name] < least:
                raise CommandError(f"--{name} {options[name]}: use at least {least}")
        printed_at = started
        try:
            for done in services.seed(
                runs=runs, shape=shape, seed=options["seed"], add=options["add"], processes=options["processes"]
            ):
                now = time.monotonic()
                if now - printed_at >= PROGRESS_EVERY:
                    printed_at, rate = now, done / (now - started)
                    left = (runs - done) / rate
                    self.stdout.write(f"{done:,} of {runs:,} runs, {rate:,.0f} runs/s, {left:,.0f} s left")
        except services.NotEmpty as error:
            raise CommandError(str(error)) from error
        took, samples = time.monotonic() - started, runs * shape.series * shape.seconds
        self.stdout.write(f"{runs:,} runs of {shape.series:,} series, {samples:,} samples in all, in {took:,.0f} s")
