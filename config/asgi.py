"""The ASGI application served by granian: config/wsgi.py in threads, behind limits on the bodies of requests."""

import gc
import logging
import os
import sys
from collections.abc import Mapping
from functools import partial
from typing import Any

from config.wsgi import application as wsgi  # isort: skip  sets Django up
from django.conf import settings
from django.db import close_old_connections
from django.template import engines
from django.urls import get_resolver

from apps.rest.framework.authentication import is_known
from config.serving.application import Application
from workers import heartbeat

THREADS, AGENT_THREADS = 4, 2
# s. At 5 ms, the default, a batch waits for several pages in turn each time that it takes the interpreter back from a
# query.
SWITCH_INTERVAL = 0.001
log = logging.getLogger(__name__)

if settings.SPLASHBOARD_PUBLIC_READ and settings.REACHABLE:
    log.warning("SPLASHBOARD_PUBLIC_READ is on: whoever reaches this server reads everything, without signing in.")


def _is_known(meta: Mapping[str, Any]) -> bool:
    close_old_connections()
    return is_known(meta)


def _load_all() -> None:
    """Pages, API and templates: the first visitor of each process would wait for them. They stay for good, and a
    garbage collection that went through them would stop every request for a fifth of a second."""
    engines.all()
    get_resolver().url_patterns  # noqa: B018 - imported by asking
    gc.collect()
    gc.freeze()


_load_all()
sys.setswitchinterval(SWITCH_INTERVAL)
application = Application(
    wsgi,
    is_known=_is_known,
    threads=THREADS,
    agent_threads=AGENT_THREADS,
    beat=partial(heartbeat.renew, f"web/{os.getpid()}"),
)
