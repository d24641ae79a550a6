"""Deletes old entries of the audit log, and records that it did."""

from datetime import UTC, datetime, time
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.utils import timezone
from django.utils.dateparse import parse_date

from apps.core.audit.retention import SHORTEST_KEPT, prune
from apps.core.problems import Invalid
from apps.core.text import counted


class Command(BaseCommand):
    help = "Delete entries of the audit log that are older than a day."

    def add_arguments(self, parser: CommandParser) -> None:
        text = f"YYYY-MM-DD, UTC; the last {SHORTEST_KEPT.days} days are always kept"
        parser.add_argument("before", help=f"first day to keep: {text}")

    def handle(self, *_args: Any, **options: Any) -> None:
        try:
            day = parse_date(options["before"])
        except ValueError:
            day = None
        if day is None:
            raise CommandError(f"BEFORE: {options['before']!r} is not a day; write it as 2026-01-31.")
        try:
            deleted = prune(before=datetime.combine(day, time(), tzinfo=UTC), now=timezone.now())
        except Invalid as refused:
            raise CommandError(str(refused)) from refused
        self.stdout.write(f"Deleted {counted(deleted, 'entry', plural='entries')}.")
