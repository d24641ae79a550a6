"""Revokes a REST API token."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.utils import timezone

from apps.accounts import tokens
from apps.accounts.models import ApiToken, User


class Command(BaseCommand):
    help = "Revoke a token for the REST API."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("user", help="owner of the token")
        parser.add_argument("name", help="its name")

    def handle(self, *_args: Any, **options: Any) -> None:
        username, name, now = options["user"], options["name"], timezone.now()
        # Inactive users may still have tokens to revoke.
        if not User.objects.filter(username=username).exists():
            raise CommandError(f"There is no user {username!r}.")
        working = ApiToken.objects.filter(user__username=username, revoked_at=None)
        # Names of older tokens may repeat.
        revoked = sum(tokens.revoke(token=token, now=now) for token in working.filter(name=name).select_related("user"))
        if not revoked:
            names = ", ".join(repr(other) for other in working.order_by("pk").values_list("name", flat=True)) or "none"
            raise CommandError(f"{username!r} has no working token {name!r}. Working ones: {names}")
        self.stdout.write(f"Revoked the token {name!r} of {username}.")
