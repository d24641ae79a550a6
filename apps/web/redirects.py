"""Redirects from former addresses to the current ones, with their query string."""

from django.contrib.auth.decorators import login_not_required
from django.urls import URLPattern, re_path
from django.views.generic import RedirectView

# Old and new beginnings of a path.
MOVED = {
    "ddl/": "schema-changes/",
    "failover/": "failovers/",
    "history/": "trends/",
    "api/v1/histories/": "api/v1/trends/",
}


def _redirect(old: str, new: str) -> URLPattern:
    view = RedirectView.as_view(url=f"/{new}%(rest)s", permanent=True, query_string=True)
    return re_path(f"^{old}(?P<rest>.*)$", login_not_required(view))


urlpatterns = [_redirect(old, new) for old, new in MOVED.items()]
