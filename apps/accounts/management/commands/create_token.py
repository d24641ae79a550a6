"""Creates a REST API token and prints its secret."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.utils import timezone

from apps.accounts import tokens
from apps.accounts.models import ApiToken, User
from apps.core.problems import Invalid


class Command(BaseCommand):
    help = "Create a token for the REST API and print its secret, which is shown once."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("user", help="owner of the token")
        parser.add_argument("name", help="purpose of the token, for example 'nightly import'")
        scopes = ApiToken.Scope.values
        parser.add_argument("--scope", choices=scopes, help="default: the widest that the owner's role allows")
        until = parser.add_mutually_exclusive_group()
        until.add_argument("--days", type=int, default=tokens.USUAL_DAYS, help="until it expires; default: %(default)s")
        until.add_argument("--never", action="store_true", help="it does not expire; for an administrator's token")

    def handle(self, *_args: Any, **options: Any) -> None:
        user = User.objects.filter(username=options["user"]).first()
        if user is None:
            known = (
                ", ".join(User.objects.values_list("username", flat=True)[:10]) or "none; run manage.py sign_in_link"
            )
            raise CommandError(f"There is no user {options['user']!r}. Users: {known}")
        if not user.is_active:
            raise CommandError(f"User {user.username!r} is not active.")
        scope = options["scope"] or tokens.widest_scope(user)
        days = None if options["never"] else options["days"]
        try:
            token, secret = tokens.create(user=user, name=options["name"], scope=scope, days=days, now=timezone.now())
        except Invalid as refused:
            raise CommandError(str(refused)) from refused
        end = "does not expire" if token.expires_at is None else f"expires on {token.expires_at:%Y-%m-%d}"
        self.stderr.write(f"Scope {token.scope}; {end}.")
        self.stdout.write(secret)
