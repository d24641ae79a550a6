"""What addresses hold that signs in or shows a page does not stand in logs."""

import logging
import re
from typing import Any

LINK = re.compile(r"(/(?:sign-in|shared)/)[\w%-]{20,}")


class HideLinks(logging.Filter):
    """Django logs the path of a request that it refuses, and a JSON line has the request too."""

    def filter(self, record: logging.LogRecord) -> bool:
        record.msg = _hidden(record.msg)
        if isinstance(record.args, tuple):
            record.args = tuple(_hidden(each) for each in record.args)
        request = repr(getattr(record, "request", ""))
        if LINK.search(request):
            record.request = _hidden(request)
        return True


def _hidden(value: Any) -> Any:
    return LINK.sub(r"\g<1>…", value) if isinstance(value, str) else value
