"""The stores of this process of the tests, as other programs are given them."""

from urllib.parse import quote

from django.db import connection


def database_url() -> str:
    """Address of the tests' database."""
    wanted = connection.settings_dict
    password = f":{quote(wanted['PASSWORD'])}" if wanted["PASSWORD"] else ""
    port = f":{wanted['PORT']}" if wanted["PORT"] else ""
    # A folder of a socket can only be given in the query.
    host, query = ("", f"?host={quote(wanted['HOST'])}") if wanted["HOST"].startswith("/") else (wanted["HOST"], "")
    return f"postgres://{wanted['USER']}{password}@{host}{port}/{wanted['NAME']}{query}"
