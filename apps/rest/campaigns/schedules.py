"""Schedules: campaigns that are started periodically, and the outcome of each scheduled run."""

from collections.abc import Iterator
from contextlib import contextmanager
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

from apps.accounts.current_user import writer
from apps.accounts.models import ApiToken
from apps.dispatch.api import ScheduleDetail, ScheduledRunRow, ScheduleFields, ScheduleRow
from apps.dispatch.api import campaign_file as file
from apps.dispatch.api import schedule_queries as queries
from apps.dispatch.api import schedules as services
from apps.dispatch.pure import cron
from apps.rest.framework.derive import Answer, serializer_of
from apps.rest.framework.fields import AddressField
from apps.rest.framework.lists import LARGEST_ID, NoParameters, Parameters, listing, next_page
from apps.rest.framework.problems import changed_since
from apps.rest.framework.strict import FiniteField, Strict
from workers import tasks

# ---------------------------------------------------------------- responses


class ScheduleSerializer(Answer):
    of = ScheduleRow
    address = AddressField("web:schedule", "id", help_text="of its page")


ScheduleDetailSerializer = serializer_of(ScheduleDetail)


# ---------------------------------------------------------------- requests


class ScheduleParameters(Parameters):
    archived = serializers.BooleanField(required=False, default=False, help_text="those that were archived instead")


class SlotParameters(Parameters):
    limit = serializers.IntegerField(required=False, default=50, min_value=1, max_value=200, help_text="entries a page")
    cursor = serializers.IntegerField(
        required=False, min_value=1, max_value=LARGEST_ID, help_text="where the page begins: taken from `next`"
    )


class StatedSchedule(Strict):
    """A campaign file and the times at which it is started."""

    name = serializers.CharField(max_length=services.LONGEST_NAME)
    plan = serializers.CharField(
        max_length=file.LARGEST, trim_whitespace=False, help_text="a campaign file, as campaigns/files/ takes"
    )
    cron = serializers.CharField(
        max_length=cron.LONGEST,
        help_text="minute, hour, day of the month, month, day of the week: `30 2 * * *` is every day at 02:30",
    )
    zone = serializers.CharField(
        required=False, default="UTC", max_length=60, help_text="time zone by its name, such as Europe/Berlin"
    )
    patience = FiniteField(
        required=False,
        default=12.0,
        max_value=services.LONGEST_DEADLINE,
        help_text="h after which a result that has not come is missing; more than 0",
    )

    @classmethod
    def read(cls, request: Request) -> dict[str, Any]:
        """Raises ValidationError with every invalid field."""
        stated = cls(data=request.data)
        stated.is_valid(raise_exception=True)
        return dict(stated.validated_data)


class EditedSchedule(StatedSchedule):
    seen = serializers.CharField(
        required=False,
        default="",
        allow_blank=True,
        max_length=64,
        help_text="of the schedule as you saw it: refused (409) when it was edited since; left out: as it is now",
    )


# ---------------------------------------------------------------- endpoints


class Schedules(APIView):
    write_scope = ApiToken.Scope.SUBMIT

    @extend_schema(
        operation_id="list_schedules",
        parameters=[ScheduleParameters],
        responses=listing(ScheduleSerializer, name="Schedule"),
    )
    def get(self, request: Request) -> Response:
        """List schedules by next time, paused ones last."""
        rows = queries.list_schedules(**ScheduleParameters.read(request))
        page = ScheduleSerializer(rows, many=True, context={"request": request})
        return Response({"next": None, "results": page.data})

    @extend_schema(operation_id="create_schedule", request=StatedSchedule, responses={201: ScheduleDetailSerializer})
    def post(self, request: Request) -> Response:
        """Create an active schedule. Problems of the plan are reported by their path in it, after `plan`."""
        stated = StatedSchedule.read(request)
        with transaction.atomic():
            schedule = services.create(stated=ScheduleFields(**stated), by=writer(request), now=timezone.now())
            answer = _answer(request, schedule.pk)
        return Response(answer, status=201, headers={"Location": reverse("api:schedule", args=[schedule.pk])})


class OneSchedule(APIView):
    write_scope = ApiToken.Scope.SUBMIT

    @extend_schema(operation_id="read_schedule", responses=ScheduleDetailSerializer)
    def get(self, request: Request, schedule_id: int) -> Response:
        """A schedule with its plan, its next times and the outcome of the latest scheduled runs."""
        NoParameters.read(request)
        return Response(_answer(request, schedule_id))

    @extend_schema(operation_id="edit_schedule", request=EditedSchedule, responses=ScheduleDetailSerializer)
    def put(self, request: Request, schedule_id: int) -> Response:
        """Replace all fields; a paused schedule stays paused. Campaigns already started are not changed."""
        stated = EditedSchedule.read(request)
        seen = stated.pop("seen")
        try:
            with _as_404():
                services.edit(schedule_id=schedule_id, stated=ScheduleFields(**stated), now=timezone.now(), seen=seen)
        except services.ScheduleChanged as error:
            raise changed_since(error) from error
        return Response(_answer(request, schedule_id))

    @extend_schema(operation_id="archive_schedule", request=None, responses={200: ScheduleDetailSerializer})
    def delete(self, request: Request, schedule_id: int) -> Response:
        """Archive the schedule permanently: it starts nothing any more, and its campaigns are kept."""
        with _as_404():
            services.archive(schedule_id=schedule_id, now=timezone.now())
        return Response(_answer(request, schedule_id))


class PauseSchedule(APIView):
    write_scope = ApiToken.Scope.SUBMIT

    @extend_schema(operation_id="pause_schedule", request=None, responses=ScheduleDetailSerializer)
    def post(self, request: Request, schedule_id: int) -> Response:
        """Pause the schedule until it is resumed."""
        with _as_404():
            services.pause(schedule_id=schedule_id)
        return Response(_answer(request, schedule_id))


class ResumeSchedule(APIView):
    write_scope = ApiToken.Scope.SUBMIT

    @extend_schema(operation_id="resume_schedule", request=None, responses=ScheduleDetailSerializer)
    def post(self, request: Request, schedule_id: int) -> Response:
        """Resume the schedule from its next time on; missed times are not caught up."""
        with _as_404():
            services.resume(schedule_id=schedule_id, now=timezone.now())
        return Response(_answer(request, schedule_id))


class RunSchedule(APIView):
    write_scope = ApiToken.Scope.SUBMIT

    @extend_schema(operation_id="run_schedule", request=None, responses={201: ScheduleDetailSerializer})
    def post(self, request: Request, schedule_id: int) -> Response:
        """Start its campaign now, outside its times; it is the newest of `slots`. Refused while one is unfinished."""
        with _as_404(), transaction.atomic():
            services.run_now(schedule_id=schedule_id, by=writer(request), now=timezone.now())
            answer = _answer(request, schedule_id)
        tasks.enqueue(tasks.match_jobs)
        return Response(answer, status=201)


class ScheduleSlots(APIView):
    @extend_schema(
        operation_id="list_schedule_slots",
        parameters=[SlotParameters],
        responses=listing(serializer_of(ScheduledRunRow), name="Slot"),
    )
    def get(self, request: Request, schedule_id: int) -> Response:
        """The outcomes of all scheduled runs, newest first."""
        parameters = SlotParameters.read(request)
        if not queries.exists(schedule_id):
            raise Http404(f"There is no schedule {schedule_id}.")
        limit = parameters["limit"]
        rows = queries.list_scheduled_runs(schedule_id, limit=limit + 1, before=parameters.get("cursor"))
        cursor = rows[limit - 1].id if len(rows) > limit else None
        page = serializer_of(ScheduledRunRow)(rows[:limit], many=True)
        return Response({"next": next_page(request, cursor=cursor), "results": page.data})


@contextmanager
def _as_404() -> Iterator[None]:
    try:
        yield
    except services.NoSuchSchedule as error:
        raise Http404(str(error)) from error


def _answer(request: Request, schedule_id: int) -> Any:
    found = queries.load_schedule(schedule_id, now=timezone.now())
    if found is None:
        raise Http404(f"There is no schedule {schedule_id}.")
    return ScheduleDetailSerializer(found, context={"request": request}).data
