"""Campaigns and their jobs: plan, follow, cancel."""

from typing import Any

from django.db import transaction
from django.http import Http404
from django.urls import reverse
from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from apps.accounts.current_user import signed_in
from apps.accounts.models import User
from apps.catalog.api import services as catalog
from apps.catalog.models import System, Workload
from apps.core.problems import FieldProblem, Invalid
from apps.dispatch import api as dispatch
from apps.dispatch.api import CampaignRow, queries
from apps.dispatch.api import plan as campaigns_plan
from apps.dispatch.models import Campaign, Job
from apps.rest.framework.lists import LARGEST_ID, NoParameters, Parameters, listing, next_page
from apps.rest.framework.strict import SLUG, FiniteField, Strict
from workers import tasks

# ---------------------------------------------------------------- responses


class NamedSerializer(serializers.Serializer[Any]):
    id = serializers.IntegerField()
    slug = serializers.CharField(help_text="empty: it has none")
    name = serializers.CharField()


class ProgressSerializer(serializers.Serializer[Any]):
    state = serializers.CharField(help_text="waiting, running, done, failed or cancelled")
    jobs = serializers.IntegerField()
    jobs_done = serializers.IntegerField(help_text="ended, however they ended")
    jobs_active = serializers.IntegerField()
    jobs_failed = serializers.IntegerField()
    jobs_cancelled = serializers.IntegerField()
    runs = serializers.IntegerField()
    runs_done = serializers.IntegerField()
    runs_skipped = serializers.IntegerField(help_text="not in `runs`: their ladders ended before them")
    runs_excluded = serializers.IntegerField(help_text="of those done: a person left them out of comparisons")
    runs_doubted = serializers.IntegerField(help_text="of those done and not excluded: they failed a quality check")
    runs_per_hour = serializers.FloatField(source="rate", allow_null=True)
    remaining_seconds = serializers.FloatField(source="remaining", allow_null=True, help_text="null: none, or unknown")
    by_plan = serializers.BooleanField(help_text="the estimate is the plan's: no run is done yet")


class EntrySerializer(serializers.Serializer[Any]):
    id = serializers.IntegerField()
    workload = NamedSerializer()
    load_levels = serializers.ListField(child=serializers.CharField())
    climbs = serializers.CharField(help_text="up to where the ladder of load levels goes; empty: to its end")
    warmup = serializers.FloatField(help_text="s of each run")
    duration = serializers.FloatField(help_text="s of each run's measured phase")


class CampaignSerializer(serializers.Serializer[Any]):
    id = serializers.IntegerField()
    name = serializers.CharField()
    address = serializers.SerializerMethodField(help_text="of its page")
    created_at = serializers.DateTimeField()
    created_by = serializers.CharField()
    cancelled_at = serializers.DateTimeField(allow_null=True)
    systems = NamedSerializer(many=True)
    workloads = NamedSerializer(many=True)
    entries = EntrySerializer(many=True, help_text="workloads, each with its load levels and times")
    load_levels = serializers.ListField(child=serializers.CharField(), help_text="of all entries")
    repetitions = serializers.IntegerField()
    warmup = serializers.FloatField(allow_null=True, help_text="s of each run; null: the entries differ")
    duration = serializers.FloatField(
        allow_null=True, help_text="s of each run's measured phase; null: the entries differ"
    )
    progress = ProgressSerializer()

    def get_address(self, row: CampaignRow) -> str:
        request: Request = self.context["request"]
        return request.build_absolute_uri(reverse("web:campaign", args=[row.id]))


class JobRunSerializer(serializers.Serializer[Any]):
    id = serializers.IntegerField()
    load_level = serializers.CharField()
    threads = serializers.IntegerField()
    state = serializers.CharField()
    outcome = serializers.CharField()
    attempt = serializers.IntegerField()
    failed_checks = serializers.ListField(
        child=serializers.CharField(), help_text="keys of the quality checks it failed"
    )
    is_excluded = serializers.BooleanField(help_text="a person left it out of all comparisons")


class SkipSerializer(serializers.Serializer[Any]):
    load_level = serializers.CharField()
    reason = serializers.CharField()


class JobSerializer(serializers.Serializer[Any]):
    id = serializers.IntegerField()
    entry = serializers.IntegerField(source="entry_id", help_text="id of the campaign's entry")
    system = NamedSerializer()
    workload = NamedSerializer()
    repetition = serializers.IntegerField()
    position = serializers.IntegerField(help_text="its place in the order that the campaign wants")
    state = serializers.CharField(help_text="queued, matched, running, cancelling, succeeded, failed or cancelled")
    attempt = serializers.IntegerField()
    agent = serializers.CharField(help_text="empty: none has it")
    reason = serializers.CharField()
    doing = serializers.CharField(help_text="what the agent says it is doing now")
    started_at = serializers.DateTimeField(allow_null=True)
    finished_at = serializers.DateTimeField(allow_null=True)
    runs = JobRunSerializer(many=True)
    skips = SkipSerializer(many=True, help_text="load levels of which no success is to be expected, and why")


class CampaignDetailSerializer(CampaignSerializer):
    jobs = JobSerializer(many=True)
    obstacles = serializers.ListField(child=serializers.CharField(), help_text="why jobs wait, in sentences")


class CancellationSerializer(serializers.Serializer[Any]):
    changed = serializers.BooleanField(help_text="false: every job had ended")
    state = serializers.CharField()
    message = serializers.CharField()


# ---------------------------------------------------------------- requests


class CampaignParameters(Parameters):
    limit = serializers.IntegerField(required=False, default=50, min_value=1, max_value=200, help_text="entries a page")
    cursor = serializers.IntegerField(
        required=False, min_value=1, max_value=LARGEST_ID, help_text="where the page begins: taken from `next`"
    )


class PlannedLoadLevel(Strict):
    threads = serializers.IntegerField(min_value=1, max_value=catalog.MAX_THREADS)
    rate = FiniteField(required=False, allow_null=True, default=None, min_value=0.001, max_value=1e9, help_text="1/s")


class CampaignPlan(Strict):
    """Systems × workloads × load levels × repetitions, run interleaved (A B, B A, …)."""

    name = serializers.CharField(max_length=campaigns_plan.MAX_NAME)
    systems = serializers.ListField(child=serializers.RegexField(SLUG, max_length=80), max_length=100)
    workloads = serializers.ListField(child=serializers.IntegerField(min_value=1, max_value=LARGEST_ID), max_length=100)
    load_levels = serializers.ListSerializer[Any](child=PlannedLoadLevel(), max_length=100)
    repetitions = serializers.IntegerField(
        min_value=1,
        max_value=campaigns_plan.MAX_REPETITIONS,
        help_text=f"a plan makes at most {campaigns_plan.MAX_JOBS:,} jobs and {campaigns_plan.MAX_RUNS:,} runs",
    )
    warmup = FiniteField(
        required=False, default=0.0, min_value=0, max_value=campaigns_plan.MAX_WARMUP, help_text="s of each run"
    )
    duration = FiniteField(
        min_value=0.1, max_value=campaigns_plan.MAX_DURATION, help_text="s of each run's measured phase"
    )


def plan(stated: dict[str, Any], *, by: User | None) -> Campaign:
    """`stated`: a valid CampaignPlan. Stores all of it or nothing. Raises Invalid with every invalid field."""
    systems = {system.slug: system for system in System.objects.filter(slug__in=stated["systems"])}
    workloads = Workload.objects.in_bulk(stated["workloads"])
    errors = [
        *_unknown("systems", stated["systems"], systems, "see /api/v1/systems/"),
        *_unknown("workloads", stated["workloads"], workloads, "see /api/v1/workloads/"),
    ]
    if errors:
        raise Invalid(errors)
    with transaction.atomic():
        levels = [catalog.load_level_for(**level) for level in stated["load_levels"]]
        try:
            return dispatch.create_campaign(
                name=stated["name"],
                systems=[systems[slug] for slug in stated["systems"]],
                entries=dispatch.alike(
                    workloads=[workloads[pk] for pk in stated["workloads"]],
                    load_levels=levels,
                    warmup=stated["warmup"],
                    duration=stated["duration"],
                ),
                repetitions=stated["repetitions"],
                created_by=by,
            )
        except Invalid as refused:
            raise Invalid(dispatch.plainly(refused.errors)) from refused


def _unknown(field: str, wanted: list[Any], found: dict[Any, Any], remedy: str) -> list[FieldProblem]:
    return [
        FieldProblem(f"{field}.{place}", f"there is no {key!r}", remedy)
        for place, key in enumerate(wanted)
        if key not in found
    ]


# ---------------------------------------------------------------- endpoints


def person_of(request: Request) -> User | None:
    return signed_in(request)


def detail_of(request: Request, campaign_id: int) -> dict[str, Any]:
    found = queries.load_campaign(campaign_id, now=timezone.now())
    if found is None:
        raise Http404(f"There is no campaign {campaign_id}.")
    row = CampaignSerializer(found.row, context={"request": request}).data
    return {**row, "jobs": JobSerializer(found.jobs, many=True).data, "obstacles": found.obstacles}


class Campaigns(APIView):
    @extend_schema(
        operation_id="list_campaigns",
        parameters=[CampaignParameters],
        responses=listing(CampaignSerializer, name="Campaign"),
    )
    def get(self, request: Request) -> Response:
        """List campaigns with their progress, newest first."""
        parameters = CampaignParameters.read(request)
        limit = parameters["limit"]
        rows = queries.list_campaigns(now=timezone.now(), limit=limit + 1, before=parameters.get("cursor"))
        cursor = rows[limit - 1].id if len(rows) > limit else None
        page = CampaignSerializer(rows[:limit], many=True, context={"request": request})
        return Response({"next": next_page(request, cursor=cursor), "results": page.data})

    @extend_schema(operation_id="plan_campaign", request=CampaignPlan, responses={201: CampaignDetailSerializer})
    def post(self, request: Request) -> Response:
        """Plan a campaign; agents that can reach its systems start as soon as they are free."""
        stated = CampaignPlan(data=request.data)
        stated.is_valid(raise_exception=True)
        # A plan sent twice makes two campaigns: an error while the response is built must roll the campaign back.
        with transaction.atomic():
            campaign = plan(stated.validated_data, by=person_of(request))
            answer = detail_of(request, campaign.pk)
        tasks.enqueue(tasks.match_jobs)
        return Response(answer, status=201, headers={"Location": reverse("api:campaign", args=[campaign.pk])})


class OneCampaign(APIView):
    @extend_schema(operation_id="read_campaign", responses=CampaignDetailSerializer)
    def get(self, request: Request, campaign_id: int) -> Response:
        """A campaign with its jobs, in planned order, and their runs."""
        NoParameters.read(request)
        return Response(detail_of(request, campaign_id))


class CancelCampaign(APIView):
    @extend_schema(operation_id="cancel_campaign", request=None, responses=CancellationSerializer)
    def post(self, request: Request, campaign_id: int) -> Response:
        """Cancel every unfinished job: waiting ones at once, a running one when its agent has cleaned up."""
        campaign = Campaign.objects.filter(pk=campaign_id).first()
        if campaign is None:
            raise Http404(f"There is no campaign {campaign_id}.")
        done = dispatch.cancel_campaign(campaign=campaign, by=person_of(request), now=timezone.now())
        return Response(CancellationSerializer(done).data)


class CancelJob(APIView):
    @extend_schema(operation_id="cancel_job", request=None, responses=CancellationSerializer)
    def post(self, request: Request, job_id: int) -> Response:
        """Cancel one job: a waiting one at once, a running one when its agent has cleaned up."""
        job = Job.objects.filter(pk=job_id).first()
        if job is None:
            raise Http404(f"There is no job {job_id}.")
        done = dispatch.cancel_job(job=job, by=person_of(request), now=timezone.now())
        return Response(CancellationSerializer(done).data)
