"""Addresses of the pages: one line each, one view module each."""

from django.urls import URLPattern, path

from apps.web import (
    accounts,
    agents,
    campaign_files,
    campaigns,
    catalog,
    compare,
    overview,
    prices,
    published,
    run,
    runs,
    search,
    uploads,
)

app_name = "web"
urlpatterns: list[URLPattern] = [
    path("", overview.show, name="overview"),
    path("runs/", runs.show, name="runs"),
    path("runs/upload/", uploads.upload, name="run-upload"),
    path("runs/<int:run_id>/", run.show, name="run"),
    path("runs/<int:run_id>/attach/", uploads.attach, name="run-attach"),
    path("compare/", compare.show, name="compare"),
    path("compare/part/<slug:name>/", compare.part, name="compare-part"),
    path("published/", published.show, name="published"),
    path("published/<slug:slug>/", published.show_article, name="article"),
    path("catalog/", catalog.show, name="catalog"),
    path("catalog/hardware/<str:slug>/price/", prices.state, name="price"),
    path("campaigns/", campaigns.show_all, name="campaigns"),
    path("campaigns/new/", campaigns.plan, name="campaign-new"),
    path("campaigns/new/size/", campaigns.size, name="campaign-size"),
    path("campaigns/file/", campaign_files.plan, name="campaign-file"),
    path("campaigns/<int:campaign_id>/", campaigns.show, name="campaign"),
    path("campaigns/<int:campaign_id>/cancel/", campaigns.cancel, name="campaign-cancel"),
    path("jobs/<int:job_id>/cancel/", campaigns.cancel_job, name="job-cancel"),
    path("agents/", agents.show_all, name="agents"),
    path("sign-in/", accounts.SignIn.as_view(), name="sign-in"),
    path("sign-in/<str:secret>/", accounts.sign_in_link, name="sign-in-link"),
    path("sign-out/", accounts.sign_out, name="sign-out"),
    path("search/", search.show, name="search"),
]
