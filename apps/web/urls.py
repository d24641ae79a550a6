"""Addresses of the pages: one line each, one view module each."""

from django.urls import URLPattern, path

from apps.web import compare, overview, run, runs, search

app_name = "web"
urlpatterns: list[URLPattern] = [
    path("", overview.show, name="overview"),
    path("runs/", runs.show, name="runs"),
    path("runs/<int:run_id>/", run.show, name="run"),
    path("compare/", compare.show, name="compare"),
    path("search/", search.show, name="search"),
]
