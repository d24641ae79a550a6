"""Addresses of Prometheus' query API."""

from django.urls import path

from apps.rest.prometheus import views

app_name = "prometheus"
urlpatterns = [
    path("query", views.Query.as_view(), name="query"),
    path("query_range", views.QueryRange.as_view(), name="query-range"),
    path("labels", views.Labels.as_view(), name="labels"),
    path("label/<str:label>/values", views.LabelValues.as_view(), name="label-values"),
    path("series", views.SeriesList.as_view(), name="series"),
    path("metadata", views.Metadata.as_view(), name="metadata"),
    path("status/buildinfo", views.BuildInfo.as_view(), name="buildinfo"),
]
