"""Failovers side by side, trial by trial, as on their page."""

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from apps.comparison.api import FAULTS, ComparedCampaign, FailoverFilter, load_failovers
from apps.comparison.pure import COUNTS, PHASES
from apps.rest.framework.derive import serializer_of
from apps.rest.framework.fields import SecondsField
from apps.rest.framework.lists import LARGEST_ID, Parameters
from apps.rest.framework.strict import MultipleChoiceField
from apps.rest.published import FigureSerializer

REACHED = "s after the fault; null: not reached, not told, or not needed"


class FailoverParameters(Parameters):
    system = serializers.ListField(
        child=serializers.CharField(max_length=80), required=False, max_length=50, help_text="slugs of systems"
    )
    fault = MultipleChoiceField(choices=list(FAULTS), required=False, help_text="any of these")
    campaign = serializers.IntegerField(required=False, min_value=1, max_value=LARGEST_ID, help_text="of this campaign")
    rate = serializers.FloatField(required=False, min_value=0.001, max_value=1e6, help_text="load, inserts/s")


class FailoverSpreadSerializer(serializers.Serializer[Any]):
    count = serializers.IntegerField(help_text="trials that have it")
    median = SecondsField()
    low = SecondsField()
    high = SecondsField()


class FailoverInterruptionSerializer(serializers.Serializer[Any]):
    """Write downtime: seconds without an acknowledged write. An unended outage counts as longer than any other."""

    trials = serializers.IntegerField(help_text="that count")
    median = SecondsField(allow_null=True, help_text="null: it falls on a trial that did not recover")
    low = SecondsField(allow_null=True, help_text="of those that recovered")
    high = SecondsField(allow_null=True)
    not_recovered = serializers.IntegerField()
    watched = SecondsField(allow_null=True, help_text="s, the least for which one that did not recover was out")


class FailoverInsertSerializer(serializers.Serializer[Any]):
    number = serializers.IntegerField(help_text="of the insert within its run")
    due = SecondsField(allow_null=True, help_text="s after the fault; before it: negative")


class FailoverStaleReadSerializer(serializers.Serializer[Any]):
    place = serializers.CharField(help_text="node, or endpoint")
    number = serializers.IntegerField(help_text="of the acknowledged insert that was not seen")
    at = SecondsField(help_text="s after the fault")


class FailoverRowsSerializer(serializers.Serializer[Any]):
    """The first hundred of each."""

    lost = FailoverInsertSerializer(many=True)
    duplicated = FailoverInsertSerializer(many=True)
    failed_present = FailoverInsertSerializer(many=True)
    stale = FailoverStaleReadSerializer(many=True)


class FailoverPhaseSerializer(serializers.Serializer[Any]):
    key = serializers.ChoiceField(choices=list(PHASES))
    start = SecondsField(help_text="s after the fault")
    end = SecondsField()
    words = serializers.CharField(help_text="what ended it, and by which evidence")


class FailoverCourseSerializer(serializers.Serializer[Any]):
    at = SecondsField(help_text="the fault, s on the run's clock")
    words = serializers.CharField()
    node = serializers.CharField(help_text="that was struck; empty: none")
    outage = SecondsField(allow_null=True, help_text="s; of one that did not end, so far; null: not told")
    recovered = serializers.BooleanField()
    interrupted = serializers.BooleanField(help_text="false: no more than the ordinary time between two writes")
    watched = SecondsField(help_text="s that the probe is known to have gone on after the fault")
    phases = FailoverPhaseSerializer(many=True)
    reached = serializers.DictField(child=SecondsField(), help_text=f"by phase: {REACHED}")
    rejoin = SecondsField(allow_null=True, help_text="s from the start, thaw or heal of the struck node")
    proxy = SecondsField(allow_null=True, help_text="when the proxy gave up the node or was led away, s")
    proxy_words = serializers.CharField()
    proxy_checks = serializers.DictField(child=serializers.CharField(), help_text="settings of the proxy's checks")
    counts = serializers.DictField(
        child=serializers.IntegerField(allow_null=True), help_text=f"{', '.join(COUNTS)}; null: not read back"
    )
    rows = FailoverRowsSerializer(help_text="which writes and reads the counts are of")


class FailoverTrialSerializer(serializers.Serializer[Any]):
    run = serializers.IntegerField()
    started_at = serializers.DateTimeField()
    provenance = serializers.CharField(source="origin")
    outcome = serializers.CharField()
    reason = serializers.CharField(help_text="why the run failed")
    failed_checks = serializers.ListField(child=serializers.CharField())
    campaign = serializer_of(ComparedCampaign)(allow_null=True)
    doubt = serializers.CharField(help_text="why it does not count in its group's figures; empty: it does")
    course = FailoverCourseSerializer()


class FailoverShareSerializer(serializers.Serializer[Any]):
    """A setting that explains part of the time. Several overlap and do not add up."""

    who = serializers.CharField()
    setting = serializers.CharField()
    formula = serializers.CharField()
    seconds = SecondsField(help_text="the most that it can take")


class FailoverGroupSerializer(serializers.Serializer[Any]):
    """Trials of one system, fault and load; all figures are over the trials that count. Times in s; lower is better."""

    system = serializers.CharField(help_text="slug")
    system_name = serializers.CharField()
    platform = serializers.CharField(source="platform_slug", help_text="slug")
    platform_name = serializers.CharField(source="platform")
    release = serializers.CharField()
    hardware_name = serializers.CharField(source="hardware")
    fault = serializers.CharField()
    fault_name = serializers.CharField()
    load = serializers.CharField(help_text="in words")
    origins = serializers.ListField(
        child=serializers.CharField(), help_text="of its trials; examples and made-up ones have groups of their own"
    )
    parameters = serializers.DictField(help_text="rate (inserts/s), read_rate, timeout (s), retries, hold (s)")
    interruption = FailoverInterruptionSerializer()
    phases = serializers.DictField(child=FailoverSpreadSerializer(allow_null=True), help_text=f"by phase: {REACHED}")
    rejoin = FailoverSpreadSerializer(allow_null=True)
    proxy = FailoverSpreadSerializer(allow_null=True)
    counts = serializers.DictField(
        child=serializers.ListField(child=serializers.IntegerField(), allow_null=True),
        help_text="least and greatest of a trial; null: no table was read back",
    )
    shares = FailoverShareSerializer(many=True)
    trials = FailoverTrialSerializer(many=True, help_text="the longest outage first")


class FailoverUntoldSerializer(serializers.Serializer[Any]):
    run = serializers.IntegerField()
    reason = serializers.CharField()


class FailoversSerializer(serializers.Serializer[Any]):
    groups = FailoverGroupSerializer(many=True)
    stated = FigureSerializer(many=True, help_text="interruptions that articles state, never filtered")
    untold = FailoverUntoldSerializer(many=True, help_text="runs whose fault never came")
    has_more = serializers.BooleanField(help_text="older trials are left out")


class Failovers(APIView):
    @extend_schema(operation_id="list_failovers", parameters=[FailoverParameters], responses=FailoversSerializer)
    def get(self, request: Request) -> Response:
        """List every failover trial with its phases and counts, by system, fault and load; and published results."""
        parameters = FailoverParameters.read(request)
        chosen = FailoverFilter(
            systems=tuple(parameters.get("system", ())),
            faults=tuple(sorted(parameters.get("fault", ()))),
            campaign=parameters.get("campaign"),
            rate=parameters.get("rate"),
        )
        return Response(FailoversSerializer(load_failovers(chosen)).data)
