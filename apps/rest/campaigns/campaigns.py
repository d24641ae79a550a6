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
from apps.accounts.models import ApiToken, User
from apps.catalog.api import services as catalog
from apps.catalog.models import System, Workload
from apps.core.problems import FieldProblem, Invalid
from apps.dispatch import api as dispatch
from apps.dispatch.api import CampaignDetail, CampaignRow, Cancellation, queries
from apps.dispatch.api import plan as campaigns_plan
from apps.dispatch.models import Campaign, Job
from apps.regressions.api import LEAST_DIFFERENCE, MOST_DIFFERENCE, POWERS, SessionPlan, session_plan
from apps.rest.framework.derive import Answer, serializer_of
from apps.rest.framework.fields import AddressField
from apps.rest.framework.lists import LARGEST_ID, NoParameters, Parameters, listing, next_page
from apps.rest.framework.strict import FiniteField, SlugField, Strict
from workers import tasks

# ---------------------------------------------------------------- responses


class CampaignSerializer(Answer):
    of = CampaignRow
    address = AddressField("web:campaign", "id", help_text="of its page")


CampaignDetailSerializer = serializer_of(CampaignDetail)
CancellationSerializer = serializer_of(Cancellation)
SessionPlanSerializer = serializer_of(SessionPlan)


# ---------------------------------------------------------------- requests


class CampaignParameters(Parameters):
    limit = serializers.IntegerField(required=False, default=50, min_value=1, max_value=200, help_text="entries a page")
    cursor = serializers.IntegerField(
        required=False, min_value=1, max_value=LARGEST_ID, help_text="where the page begins: taken from `next`"
    )


class SessionPlanParameters(Parameters):
    system = serializers.ListField(
        child=SlugField(max_length=80), min_length=2, max_length=100, help_text="slugs, two or more"
    )
    workload = serializers.ListField(
        child=serializers.IntegerField(min_value=1, max_value=LARGEST_ID), min_length=1, max_length=100, help_text="ids"
    )
    threads = serializers.ListField(
        child=serializers.IntegerField(min_value=1, max_value=catalog.MAX_THREADS), min_length=1, max_length=100
    )
    warmup = FiniteField(required=False, default=0.0, min_value=0, max_value=campaigns_plan.MAX_WARMUP, help_text="s")
    duration = FiniteField(min_value=0.1, max_value=campaigns_plan.MAX_DURATION, help_text="s")
    difference = FiniteField(
        required=False,
        default=0.05,
        min_value=LEAST_DIFFERENCE,
        max_value=MOST_DIFFERENCE,
        help_text="the smallest that is to be found, a share",
    )
    power = serializers.ChoiceField(
        choices=[(f"{power:g}", f"{power:g}") for power in POWERS],
        required=False,
        default="0.9",
        help_text="how sure it is to be found",
    )


class PlannedLoadLevel(Strict):
    threads = serializers.IntegerField(min_value=1, max_value=catalog.MAX_THREADS)
    rate = FiniteField(required=False, allow_null=True, default=None, min_value=0.001, max_value=1e9, help_text="1/s")


class CampaignPlan(Strict):
    """Systems × workloads × load levels × sessions × repetitions, run interleaved (A B, B A, …)."""

    name = serializers.CharField(max_length=campaigns_plan.MAX_NAME)
    systems = serializers.ListField(child=SlugField(max_length=80), max_length=100)
    workloads = serializers.ListField(child=serializers.IntegerField(min_value=1, max_value=LARGEST_ID), max_length=100)
    load_levels = serializers.ListSerializer[Any](child=PlannedLoadLevel(), max_length=100)
    repetitions = serializers.IntegerField(
        min_value=1,
        max_value=campaigns_plan.MAX_REPETITIONS,
        help_text=f"a plan makes at most {campaigns_plan.MAX_JOBS:,} jobs and {campaigns_plan.MAX_RUNS:,} runs",
    )
    sessions = serializers.IntegerField(
        required=False,
        default=1,
        min_value=1,
        max_value=campaigns_plan.MAX_SESSIONS,
        help_text="of that many repetitions each; before each but the first the servers are started anew",
    )
    warmup = FiniteField(
        required=False, default=0.0, min_value=0, max_value=campaigns_plan.MAX_WARMUP, help_text="s of each run"
    )
    until = serializers.RegexField(
        r"^(|verdict|0\.\d{1,6}|1)$",
        required=False,
        default="",
        allow_blank=True,
        help_text='when a load level needs no more repetitions: "verdict", or the half width of an interval, as "0.03"',
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
                sessions=stated["sessions"],
                created_by=by,
                until=stated["until"],
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


def detail_of(request: Request, campaign_id: int) -> Any:
    found = queries.load_campaign(campaign_id, now=timezone.now())
    if found is None:
        raise Http404(f"There is no campaign {campaign_id}.")
    return CampaignDetailSerializer(found, context={"request": request}).data


class Campaigns(APIView):
    write_scope = ApiToken.Scope.SUBMIT

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


class SessionPlans(APIView):
    @extend_schema(operation_id="plan_sessions", parameters=[SessionPlanParameters], responses=SessionPlanSerializer)
    def get(self, request: Request) -> Response:
        """How many sessions of how many repetitions find a difference, and what they take; nothing is planned."""
        asked = SessionPlanParameters.read(request)
        slugs, ids = list(dict.fromkeys(asked["system"])), list(dict.fromkeys(asked["workload"]))
        systems = {system.slug: system for system in System.objects.filter(slug__in=slugs)}
        workloads = Workload.objects.in_bulk(ids)
        errors = [
            *_unknown("system", slugs, systems, "see /api/v1/systems/"),
            *_unknown("workload", ids, workloads, "see /api/v1/workloads/"),
        ]
        if len(slugs) < 2:
            errors.append(FieldProblem("system", "is the same twice", "name two or more"))
        if errors:
            raise Invalid(errors)
        found = session_plan(
            [systems[slug] for slug in slugs],
            dispatch.alike(
                workloads=[workloads[pk] for pk in ids],
                load_levels=sorted(set(asked["threads"])),
                warmup=asked["warmup"],
                duration=asked["duration"],
            ),
            difference=asked["difference"],
            power=float(asked["power"]),
        )
        return Response(SessionPlanSerializer(found, context={"request": request}).data)


class OneCampaign(APIView):
    @extend_schema(operation_id="read_campaign", responses=CampaignDetailSerializer)
    def get(self, request: Request, campaign_id: int) -> Response:
        """A campaign with its jobs, in planned order, and their runs."""
        NoParameters.read(request)
        return Response(detail_of(request, campaign_id))


class CancelCampaign(APIView):
    write_scope = ApiToken.Scope.SUBMIT

    @extend_schema(operation_id="cancel_campaign", request=None, responses=CancellationSerializer)
    def post(self, request: Request, campaign_id: int) -> Response:
        """Cancel every unfinished job: waiting ones at once, a running one when its agent has cleaned up."""
        campaign = Campaign.objects.filter(pk=campaign_id).first()
        if campaign is None:
            raise Http404(f"There is no campaign {campaign_id}.")
        done = dispatch.cancel_campaign(campaign=campaign, by=person_of(request), now=timezone.now())
        return Response(CancellationSerializer(done).data)


class CancelJob(APIView):
    write_scope = ApiToken.Scope.SUBMIT

    @extend_schema(operation_id="cancel_job", request=None, responses=CancellationSerializer)
    def post(self, request: Request, job_id: int) -> Response:
        """Cancel one job: a waiting one at once, a running one when its agent has cleaned up."""
        job = Job.objects.filter(pk=job_id).first()
        if job is None:
            raise Http404(f"There is no job {job_id}.")
        done = dispatch.cancel_job(job=job, by=person_of(request), now=timezone.now())
        return Response(CancellationSerializer(done).data)
