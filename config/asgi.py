"""The ASGI application served by granian: config/wsgi.py in threads, behind limits on the bodies of requests."""

import logging
from collections.abc import Mapping
from typing import Any

from config.wsgi import application as wsgi  # isort: skip  sets Django up
from django.conf import settings
from django.db import close_old_connections

from apps.rest.framework.authentication import is_known
from config.serving.application import Application

THREADS = 4
log = logging.getLogger(__name__)

if settings.SPLASHBOARD_PUBLIC_READ and settings.REACHABLE:
    log.warning("SPLASHBOARD_PUBLIC_READ is on: whoever reaches this server reads everything, without signing in.")


def _is_known(meta: Mapping[str, Any]) -> bool:
    close_old_connections()
    return is_known(meta)


application = Application(wsgi, is_known=_is_known, threads=THREADS)
