"""Addresses of the pages: one line each, one view module each."""

from django.urls import URLPattern, path, re_path

from apps.web import agents, health, saved, saved_filters, search
from apps.web.accounts import account, audit_log, people, provider, sessions, share, sign_in
from apps.web.campaigns import campaigns, files, schedules
from apps.web.catalog import catalog, prices, short_names
from apps.web.compare import claims, compare, exports
from apps.web.compare.sections import comparability
from apps.web.failovers import failovers
from apps.web.findings import actions, feeds, finding, findings, thresholds
from apps.web.help import help
from apps.web.matrix import matrix
from apps.web.notifications import forms, notifications
from apps.web.overview import overview
from apps.web.published import article, figures, results, two_articles, upload
from apps.web.releases import releases
from apps.web.runs import quality, run, runs, upload_pages, variables
from apps.web.runs.use_method import page
from apps.web.schema_changes import schema_changes
from apps.web.timeline import timeline
from apps.web.trends import board, trends

app_name = "web"
urlpatterns: list[URLPattern] = [
    path("", overview.show, name="overview"),
    path("examples/remove/", overview.remove_examples, name="examples-remove"),
    path("runs/", runs.show, name="runs"),
    path("runs/upload/", upload_pages.upload, name="run-upload"),
    path("runs/filters/", saved_filters.change, name="run-filters"),
    path("runs/<int:run_id>/", run.show, name="run"),
    path("runs/<int:run_id>/attach/", upload_pages.attach, name="run-attach"),
    path("runs/<int:run_id>/exclude/", quality.exclude, name="run-exclude"),
    path("runs/<int:run_id>/count-again/", quality.count_again, name="run-count-again"),
    path("runs/<int:run_id>/variables/", variables.show, name="run-variables"),
    path("runs/<int:run_id>/use/", page.show, name="run-use"),
    path("runs/<int:run_id>/use/<str:key>/", page.open_reading, name="run-use-opened"),
    path("timeline/", timeline.show, name="timeline"),
    path("compare/", compare.show, name="compare"),
    path("compare/acknowledge/", comparability.acknowledge, name="acknowledge"),
    path(
        "compare/acknowledgements/<int:acknowledgement_id>/withdraw/",
        comparability.withdraw,
        name="acknowledgement-withdraw",
    ),
    path("compare/everything.<str:form>", exports.everything_as, name="compare-everything"),
    path("compare/part/<slug:name>/", compare.part, name="compare-part"),
    path("comparisons/", saved.show_all, name="saved-list"),
    path("comparisons/save/", saved.save, name="save"),
    path("comparisons/<slug:slug>/", saved.show, name="saved"),
    path("comparisons/<slug:slug>/part/<str:name>/", saved.part, name="saved-part"),
    path("comparisons/<slug:slug>/standing/", saved.standing, name="saved-standing"),
    path("comparisons/<slug:slug>/refresh/", saved.refresh, name="saved-refresh"),
    path("comparisons/<slug:slug>/delete/", saved.delete, name="saved-delete"),
    path("comparisons/<slug:slug>/describe/", saved.describe, name="saved-describe"),
    path("workloads/<int:workload_id>/baseline/", saved.pin, name="pin-baseline"),
    path("help/", help.show, name="help"),
    path("help/search/", help.search, name="help-search"),
    path("help/screenshots/<slug:name>.png", help.picture, name="help-picture"),
    path("help/<path:name>/", help.show, name="help-page"),
    path("matrix/", matrix.show, name="matrix"),
    re_path(r"^matrix/matrix\.(?P<ending>md|csv)$", matrix.export, name="matrix-export"),
    path("schema-changes/", schema_changes.show, name="schema-changes"),
    re_path(
        r"^schema-changes/schema-changes\.(?P<ending>md|csv)$", schema_changes.export, name="schema-changes-export"
    ),
    path("failovers/", failovers.show, name="failovers"),
    re_path(r"^failovers/failovers\.(?P<ending>md|csv)$", failovers.export, name="failovers-export"),
    path("findings/", findings.show, name="findings"),
    path("findings/<int:finding_id>/", finding.show, name="finding"),
    path("findings/<int:finding_id>/<slug:action>/", actions.act, name="finding-act"),
    path("findings/feed.atom", feeds.findings, name="findings-feed"),
    path("trends/", board.show, name="trends"),
    path("trends/series/", trends.show_all, name="trend-list"),
    path("trends/<int:history_id>/", trends.show, name="trend"),
    path("thresholds/", thresholds.show, name="thresholds"),
    path("thresholds/<int:threshold_id>/drop/", thresholds.drop, name="threshold-drop"),
    path("releases/", releases.show_all, name="releases"),
    path("sign-offs/<int:sign_off_id>/withdraw/", releases.withdraw, name="sign-off-withdraw"),
    # A version may contain a slash: addresses below a release come first.
    re_path(
        r"^releases/(?P<platform>[-\w]+)/(?P<version>.+)/release\.(?P<ending>md|csv)$",
        releases.export,
        name="release-export",
    ),
    path("releases/<slug:platform>/<path:version>/sign-off/", releases.sign_off, name="release-sign-off"),
    path("releases/<slug:platform>/<path:version>/", releases.show, name="release"),
    path("badge/<slug:platform>/<path:version>.svg", releases.badge, name="release-badge"),
    path("published/", results.show, name="published"),
    path("published/figures/", figures.show, name="published-figures"),
    path("published/new/", upload.load, name="article-new"),
    path("published/side-by-side/", two_articles.show, name="two-articles"),
    path("published/<slug:slug>/", article.show, name="article"),
    path("claims/", claims.show, name="claims"),
    path("catalog/", catalog.show, name="catalog"),
    path("catalog/hardware/<str:slug>/price/", prices.state, name="price"),
    path("catalog/systems/<str:slug>/short-name/", short_names.change, name="short-name"),
    path("campaigns/", campaigns.show_all, name="campaigns"),
    path("campaigns/new/", campaigns.plan, name="campaign-new"),
    path("campaigns/new/size/", campaigns.size, name="campaign-size"),
    path("campaigns/file/", files.plan, name="campaign-file"),
    path("campaigns/<int:campaign_id>/", campaigns.show, name="campaign"),
    path("campaigns/<int:campaign_id>/cancel/", campaigns.cancel, name="campaign-cancel"),
    path("jobs/<int:job_id>/cancel/", campaigns.cancel_job, name="job-cancel"),
    path("schedules/", schedules.show_all, name="schedules"),
    path("schedules/new/", schedules.new, name="schedule-new"),
    path("schedules/times/", schedules.times, name="schedule-times"),
    path("schedules/<int:schedule_id>/", schedules.show, name="schedule"),
    path("schedules/<int:schedule_id>/edit/", schedules.edit, name="schedule-edit"),
    path("schedules/<int:schedule_id>/act/", schedules.act, name="schedule-act"),
    path("notifications/", notifications.show, name="notifications"),
    path("notifications/teams/new/", forms.team, name="team-new"),
    path("notifications/teams/<int:team_id>/", forms.team, name="team"),
    path("notifications/teams/<int:team_id>/delete/", forms.delete_team, name="team-delete"),
    path("notifications/subscriptions/new/", forms.subscription, name="subscription-new"),
    path("notifications/subscriptions/<int:subscription_id>/", forms.subscription, name="subscription"),
    path("notifications/subscriptions/<int:subscription_id>/test/", notifications.send_test, name="subscription-test"),
    path(
        "notifications/subscriptions/<int:subscription_id>/delete/",
        forms.delete_subscription,
        name="subscription-delete",
    ),
    path("notifications/deliveries/<int:delivery_id>/", notifications.show_delivery, name="delivery"),
    path("notifications/deliveries/<int:delivery_id>/retry/", notifications.retry, name="delivery-retry"),
    path("agents/", agents.show_all, name="agents"),
    path("agents/systems/", agents.decide, name="agent-system"),
    path("agents/enrolments/", agents.enrol, name="agent-enrolment"),
    path("health/", health.show, name="health"),
    path("account/", account.show, name="account"),
    path("account/tokens/<int:token_id>/revoke/", account.revoke, name="token-revoke"),
    path("account/sessions/end/", sessions.end_others, name="sessions-end"),
    path("account/sessions/<slug:handle>/end/", sessions.end, name="session-end"),
    path("account/password/", account.change_password, name="password"),
    path("people/", people.show, name="people"),
    path("people/<int:user_id>/", people.change, name="person"),
    path("people/<int:user_id>/link/", people.link, name="person-link"),
    path("people/<int:user_id>/unbind/", people.unbind, name="person-unbind"),
    path("share/", share.show, name="share"),
    path("share/<int:link_id>/withdraw/", share.withdraw, name="shared-withdraw"),
    path("shared/<str:secret>/", share.open_link, name="shared"),
    path("audit/", audit_log.show, name="audit"),
    path("sign-in/", sign_in.SignIn.as_view(), name="sign-in"),
    path("sign-in/provider/", provider.begin, name="sign-in-provider"),
    path("sign-in/provider/callback/", provider.come_back, name="sign-in-provider-callback"),
    path("sign-in/<str:secret>/", sign_in.sign_in_link, name="sign-in-link"),
    path("sign-out/", sign_in.sign_out, name="sign-out"),
    path("search/", search.show, name="search"),
]
