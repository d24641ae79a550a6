"""Addresses of the REST API."""

from django.urls import URLPattern, path

from apps.api import (
    agents,
    agents_public,
    campaigns,
    catalog,
    comparisons,
    distributions,
    health,
    published,
    runs,
    schema,
    series,
    systems,
)

app_name = "api"
urlpatterns: list[URLPattern] = [
    path("platforms/", catalog.Platforms.as_view(), name="platforms"),
    path("releases/", catalog.Releases.as_view(), name="releases"),
    path("hardware-classes/", catalog.HardwareClasses.as_view(), name="hardware-classes"),
    path("systems/", systems.Systems.as_view(), name="systems"),
    path("workloads/", catalog.Workloads.as_view(), name="workloads"),
    path("metrics/", catalog.Metrics.as_view(), name="metrics"),
    path("comparisons/", comparisons.Comparisons.as_view(), name="comparisons"),
    path("runs/", runs.Runs.as_view(), name="runs"),
    path("runs/<int:run_id>/", runs.OneRun.as_view(), name="run"),
    path("runs/<int:run_id>/series/", series.RunSeries.as_view(), name="series"),
    path("runs/<int:run_id>/series-index/", series.SeriesIndex.as_view(), name="series-index"),
    path("runs/<int:run_id>/distributions/", distributions.Distributions.as_view(), name="distributions"),
    path("runs/<int:run_id>/artifacts/<str:name>", runs.ArtifactFile.as_view(), name="artifact"),
    path("series/", series.SeriesOfRuns.as_view(), name="series-of-runs"),
    path("campaigns/", campaigns.Campaigns.as_view(), name="campaigns"),
    path("campaigns/<int:campaign_id>/", campaigns.OneCampaign.as_view(), name="campaign"),
    path("campaigns/<int:campaign_id>/cancel", campaigns.CancelCampaign.as_view(), name="cancel-campaign"),
    path("jobs/<int:job_id>/cancel", campaigns.CancelJob.as_view(), name="cancel-job"),
    path("agents/", agents_public.Agents.as_view(), name="agents"),
    path("published/", published.Published.as_view(), name="published"),
    path("health/", health.Health.as_view(), name="health"),
    path("schema/", schema.Schema.as_view(), name="schema"),
    path("docs/", schema.docs, name="docs"),
    # What agents say; workers.wire describes the bodies.
    path("agent/hello", agents.Hello.as_view(), name="agent-hello"),
    path("agent/claim", agents.Claim.as_view(), name="agent-claim"),
    path("agent/systems/<str:slug>/failover", agents.FailOver.as_view(), name="agent-failover"),
    path("agent/jobs/<int:job_id>/renew", agents.RenewLease.as_view(), name="agent-renew"),
    path("agent/jobs/<int:job_id>/end", agents.EndJob.as_view(), name="agent-end-job"),
    path("agent/runs/<uuid:uid>", agents.OpenRun.as_view(), name="agent-open-run"),
    path("agent/runs/<uuid:uid>/batches/<int:sequence>", agents.StoreBatch.as_view(), name="agent-batch"),
    path("agent/runs/<uuid:uid>/artifacts/<str:name>", agents.StoreArtifact.as_view(), name="agent-artifact"),
    path("agent/runs/<uuid:uid>/end", agents.EndRun.as_view(), name="agent-end-run"),
]
