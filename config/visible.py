"""Pages without characters that are unseen or reorder what stands behind them, whatever texts they show."""

import re

from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.utils.deprecation import MiddlewareMixin

from apps.core.text import visible

# Bytes with which such a character can begin in UTF-8: most pages have none, and are not decoded.
_PERHAPS = re.compile(rb"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]|\xc2[\x80-\x9f]|\xe2\x80[\xaa-\xae]|\xe2\x81[\xa6-\xa9]")


class VisibleText(MiddlewareMixin):
    """JSON of the API and raw files stay as they are: programs read them."""

    def process_response(self, request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:  # noqa: ARG002
        is_page = response.get("Content-Type", "").startswith("text/html")
        if is_page and isinstance(response, HttpResponse) and _PERHAPS.search(response.content):
            response.content = visible(response.content.decode(response.charset)).encode(response.charset)
            if response.has_header("Content-Length"):
                response["Content-Length"] = str(len(response.content))
        return response
