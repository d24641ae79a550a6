"""The WSGI application that config/asgi.py runs in threads."""

import os

from django.core.wsgi import get_wsgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
_django = get_wsgi_application()

from apps.rest.agents.batches import BatchDoor  # noqa: E402  (apps are there once the application is)
from config.observe import CountRequests  # noqa: E402

application = CountRequests(BatchDoor(_django))
