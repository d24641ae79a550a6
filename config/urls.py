"""URLs: pages and probes at the root, the REST API below /api/v1/, Prometheus' query API below /api/prometheus/."""

from django.urls import include, path, re_path

from apps.rest import health
from apps.rest.framework.problems import unknown_address

urlpatterns = [
    path("", include("apps.web.redirects")),
    path("livez", health.live, name="livez"),
    path("readyz", health.ready, name="readyz"),
    path("metrics", health.ServerMetrics.as_view(), name="metrics"),
    path("api/v1/", include("apps.rest.urls")),
    path("api/prometheus/api/v1/", include("apps.rest.prometheus.urls")),
    re_path(r"^api(?:/[\s\S]*)?$", unknown_address),
    path("", include("apps.web.urls")),
]
handler500 = "apps.web.failure.show"
