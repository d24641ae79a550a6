"""Blocking differences that people accepted, so that verdicts are given in spite of them."""

from django.db.models import QuerySet
from django.http import Http404
from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from apps.accounts.current_user import writer
from apps.comparison.api import FEWEST_SIDES, MOST_SIDES, acknowledgements, compare
from apps.comparison.models import Acknowledgement
from apps.comparison.pure import ACCEPTABLE
from apps.rest.framework.lists import LARGEST_ID, NoParameters, PageParameters, listing, page_of
from apps.rest.framework.strict import ChoiceField, Strict

GROUPS = [each.value for each in ACCEPTABLE]


class AcknowledgementSerializer(serializers.ModelSerializer[Acknowledgement]):
    group = ChoiceField(choices=GROUPS)
    said = serializers.JSONField(help_text="what was accepted: both systems with their values, and the labels of these")
    by = serializers.CharField(source="acknowledged_by.username")
    at = serializers.DateTimeField(source="acknowledged_at")
    withdrawn_by = serializers.CharField(source="withdrawn_by.username", allow_null=True, default=None)

    class Meta:
        model = Acknowledgement
        fields = ("id", "group", "said", "reason", "by", "at", "withdrawn_by", "withdrawn_at")
        read_only_fields = ("withdrawn_at",)


class NewAcknowledgement(Strict):
    side = serializers.ListField(
        child=serializers.CharField(max_length=100), min_length=FEWEST_SIDES, max_length=MOST_SIDES
    )
    workload = serializers.IntegerField(min_value=1, max_value=LARGEST_ID)
    campaign = serializers.IntegerField(required=False, min_value=1, max_value=LARGEST_ID)
    runs = serializers.ListField(child=serializers.IntegerField(min_value=1, max_value=LARGEST_ID), required=False)
    group = serializers.ListField(
        child=ChoiceField(choices=GROUPS), min_length=1, help_text="what is accepted of this comparison"
    )
    reason = serializers.CharField(max_length=acknowledgements.LONGEST_REASON)


class Acknowledgements(APIView):
    @extend_schema(
        operation_id="list_acknowledgements",
        parameters=[PageParameters],
        responses=listing(AcknowledgementSerializer, name="Acknowledgement"),
    )
    def get(self, request: Request) -> Response:
        """List all acknowledgements, newest first; withdrawn ones have no effect."""
        PageParameters.read(request)
        rows: QuerySet[Acknowledgement] = Acknowledgement.objects.select_related("acknowledged_by", "withdrawn_by")
        return page_of(self, request, rows, key="-id", serializer=AcknowledgementSerializer)

    @extend_schema(
        operation_id="acknowledge",
        request=NewAcknowledgement,
        responses={201: AcknowledgementSerializer(many=True), 200: AcknowledgementSerializer(many=True)},
    )
    def post(self, request: Request) -> Response:
        """Accept, with a reason, that the sides of a comparison differ in hardware, data set or workload.

        Verdicts are given from then on. Creates one record per side and group; none if all were accepted before (200).
        """
        stated = NewAcknowledgement(data=request.data)
        stated.is_valid(raise_exception=True)
        wanted = stated.validated_data
        comparison = compare.compare(
            sides=wanted["side"],
            workload_id=wanted["workload"],
            campaign=wanted.get("campaign"),
            runs=wanted.get("runs") or None,
        )
        made = acknowledgements.acknowledge(
            differences=[each for each in comparison.obstacles if each.group.value in wanted["group"]],
            by=writer(request),
            reason=wanted["reason"],
        )
        return Response(AcknowledgementSerializer(made, many=True).data, status=201 if made else 200)


class OneAcknowledgement(APIView):
    @extend_schema(operation_id="withdraw_acknowledgement", responses={204: None})
    def delete(self, request: Request, acknowledgement_id: int) -> Response:
        """Withdraw an acknowledgement: verdicts are withheld again. The record is kept, with author and time."""
        NoParameters.read(request)
        if not Acknowledgement.objects.filter(pk=acknowledgement_id).exists():
            raise Http404(f"There is no acknowledgement {acknowledgement_id}.")
        acknowledgements.withdraw(acknowledgement=acknowledgement_id, by=writer(request), now=timezone.now())
        return Response(status=204)
