"""Addresses of the REST API; config.urls answers for every other address below /api/."""

from django.urls import URLPattern

app_name = "api"

agent_patterns: list[URLPattern] = []

urlpatterns: list[URLPattern] = [*agent_patterns]
