"""Writes the Python client's types of the API; --check: fails where they are not current."""

from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser
from drf_spectacular.generators import SchemaGenerator

from apps.rest import client_types

FOLDER = settings.BASE_DIR / "client" / "splashboard" / "answers"


class Command(BaseCommand):
    help = "Write client/splashboard/answers from the OpenAPI schema."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--check", action="store_true", help="write nothing; fail where a file is not current")

    def handle(self, *_args: Any, **options: Any) -> None:
        schema = SchemaGenerator().get_schema(request=None, public=True)  # type: ignore[no-untyped-call]
        for name, text in client_types.modules(schema).items():
            path = FOLDER / f"{name}.py"
            if not options["check"]:
                path.write_text(text, encoding="utf-8")
            elif not path.exists() or path.read_text(encoding="utf-8") != text:
                raise CommandError(f"{path.relative_to(settings.BASE_DIR)} is not the API's: run `make types`")
