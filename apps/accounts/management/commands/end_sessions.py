"""Ends all sessions of a person."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from apps.accounts.models import User
from apps.accounts.sessions import sessions
from apps.core.text import counted


class Command(BaseCommand):
    help = "End all sessions of a person: each browser must sign in again. Tokens stay."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("user")

    def handle(self, *_args: Any, **options: Any) -> None:
        user = User.objects.filter(username=options["user"]).first()
        if user is None:
            raise CommandError(f"There is no user {options['user']!r}.")
        ended = counted(sessions.end_all(user=user), "session")
        self.stdout.write(f"Ended {ended} of {user.username}.")
