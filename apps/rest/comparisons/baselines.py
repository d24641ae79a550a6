"""Pinned baselines: the system that a workload's comparisons use as baseline unless another is chosen."""

from django.http import Http404
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from apps.accounts.current_user import writer
from apps.catalog.models import System, Workload
from apps.comparison.api import Pin, baselines
from apps.core.problems import FieldProblem, Invalid
from apps.rest.framework.derive import serializer_of
from apps.rest.framework.lists import NoParameters, listing, whole
from apps.rest.framework.strict import SlugField, Strict


class NewPin(Strict):
    system = SlugField(max_length=80, help_text="slug")
    note = serializers.CharField(required=False, allow_blank=True, default="", max_length=baselines.LONGEST_NOTE)


class Baselines(APIView):
    @extend_schema(operation_id="list_baselines", responses=listing(serializer_of(Pin), name="Baseline"))
    def get(self, request: Request) -> Response:
        """List the pinned baselines of all workloads that have one."""
        NoParameters.read(request)
        return whole([pin for _, pin in sorted(baselines.pins().items())], serializer=serializer_of(Pin))


class OneBaseline(APIView):
    @extend_schema(operation_id="read_baseline", responses=serializer_of(Pin))
    def get(self, request: Request, workload_id: int) -> Response:
        """The pinned baseline of a workload."""
        NoParameters.read(request)
        pin = baselines.pins([_workload(workload_id).pk]).get(workload_id)
        if pin is None:
            raise Http404(f"No baseline is pinned for workload {workload_id}.")
        return Response(serializer_of(Pin)(pin).data)

    @extend_schema(operation_id="pin_baseline", request=NewPin, responses=serializer_of(Pin))
    def put(self, request: Request, workload_id: int) -> Response:
        """Pin a system as the baseline of a workload, replacing the previous pin."""
        workload = _workload(workload_id)
        stated = NewPin(data=request.data)
        stated.is_valid(raise_exception=True)
        system = System.objects.filter(slug=stated.validated_data["system"]).first()
        if system is None:
            raise Invalid([FieldProblem("system", f"there is no {stated.validated_data['system']!r}")])
        pin = baselines.pin(workload=workload, system=system, note=stated.validated_data["note"], by=writer(request))
        return Response(serializer_of(Pin)(pin).data)

    @extend_schema(operation_id="unpin_baseline", responses={204: None})
    def delete(self, request: Request, workload_id: int) -> Response:
        """Remove the pin; no effect if there is none."""
        NoParameters.read(request)
        baselines.unpin(workload=_workload(workload_id))
        return Response(status=204)


def _workload(workload_id: int) -> Workload:
    found = Workload.objects.filter(pk=workload_id).first()
    if found is None:
        raise Http404(f"There is no workload {workload_id}.")
    return found
