"""Addresses: pages at the root, the REST API below /api/v1/."""

from django.urls import include, path

urlpatterns = [
    path("api/v1/", include("apps.api.urls")),
    path("", include("apps.web.urls")),
]
