"""Evidence of a finding, as on its page beside the review."""

from typing import Any

from django.http import Http404
from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from apps.core.problems import FieldProblem, Invalid
from apps.regressions.api import evidence
from apps.regressions.api import finding_queries as queries
from apps.rest.framework.fields import NumberField, WordsField
from apps.rest.framework.lists import LARGEST_ID, Parameters
from apps.use_method.pure import UseLevel

LEVELS = [level.value for level in UseLevel]


class EvidenceParameters(Parameters):
    change = serializers.IntegerField(
        required=False, min_value=1, max_value=LARGEST_ID, help_text="id; left out: the furthest for the worse"
    )


class SideRunSerializer(serializers.Serializer[Any]):
    id = serializers.IntegerField()
    side = serializers.ChoiceField(choices=[evidence.BEFORE, evidence.AFTER])
    value = NumberField(allow_null=True, help_text="in the metric's unit; null: it has none any more")
    started_at = serializers.DateTimeField()
    system = serializers.CharField(help_text="slug")
    release = serializers.CharField(help_text="version")
    server_version = serializers.CharField()
    provenance = serializers.CharField()
    is_excluded = serializers.BooleanField(help_text="left out since: it does not count any more")
    failed_checks = serializers.ListField(child=serializers.CharField(), help_text="keys")


class UseSideSerializer(serializers.Serializer[Any]):
    """The reading that most repetitions of a side agree on."""

    node = serializers.CharField()
    level = serializers.ChoiceField(choices=LEVELS)
    value = NumberField(allow_null=True)
    lowest = NumberField(allow_null=True, help_text="of its repetitions")
    highest = NumberField(allow_null=True)
    unit = serializers.CharField(help_text="totals of a run are told per second")
    runs = serializers.IntegerField(help_text="that have a value")
    run = serializers.IntegerField(help_text="id of the run that `value` is of")
    words = WordsField(help_text="the evidence")


class UseDifferenceSerializer(serializers.Serializer[Any]):
    indicator = serializers.CharField(source="indicator.key", help_text="key in GET use-method/")
    title = WordsField()
    where = serializers.CharField(help_text="node, by its role where the sides call it differently")
    span = WordsField(help_text="0 → 340 waits/s")
    before = UseSideSerializer()
    after = UseSideSerializer()
    climbed = serializers.IntegerField(help_text="by how many levels it is worse; negative: better")


class WorkDifferenceSerializer(serializers.Serializer[Any]):
    metric = serializers.CharField(source="key")
    name = WordsField()
    unit = serializers.CharField(help_text="for each of what `per` says")
    per = serializers.CharField(help_text="transaction, query or row")
    before = NumberField()
    after = NumberField()
    ratio = NumberField(allow_null=True, help_text="after over before; null: one of them is zero")
    low = NumberField(allow_null=True, help_text="of its 95 % interval")
    high = NumberField(allow_null=True)
    words = WordsField(help_text="better or worse")


class SettingDifferenceSerializer(serializers.Serializer[Any]):
    field = serializers.CharField()
    label = serializers.CharField()  # type: ignore[assignment]  # DRF's metaclass removes it
    group = serializers.CharField(source="group.value")
    weight = serializers.CharField(source="weight.value")
    values = serializers.ListField(child=serializers.CharField(), help_text="before, after")
    hidden = serializers.CharField(help_text="why the page does not show it; empty: it does")


class EvidenceSerializer(serializers.Serializer[Any]):
    change = serializers.IntegerField(source="change.id", help_text="among the finding's `changes`")
    use_sentence = WordsField(source="sentence", help_text="what changed and what the servers did differently")
    runs = SideRunSerializer(many=True, help_text="of both sides, each in time")
    use = UseDifferenceSerializer(source="use.differences", many=True, help_text="the most telling first")
    use_compared = serializers.IntegerField(source="use.compared", help_text="indicators that both sides saw")
    work = WorkDifferenceSerializer(many=True, help_text="what a transaction cost both sides, the largest change first")
    pending = serializers.IntegerField(help_text="runs whose USE panel is still to be judged")
    settings = SettingDifferenceSerializer(
        source="differences", many=True, help_text="in what the configurations differ"
    )
    problem = serializers.CharField(help_text="why the configurations were not compared; empty: they were")


class FindingEvidence(APIView):
    @extend_schema(operation_id="read_finding_evidence", parameters=[EvidenceParameters], responses=EvidenceSerializer)
    def get(self, request: Request, finding_id: int) -> Response:
        """The evidence for one change of a finding: both sides' runs, USE and configuration differences."""
        asked = EvidenceParameters.read(request).get("change")
        found = queries.load_finding(finding_id, now=timezone.now())
        if found is None:
            raise Http404(f"There is no finding {finding_id}.")
        chosen = [change for change in found.changes if asked in (None, change.id)]
        if not chosen and asked is not None:
            raise Invalid([FieldProblem("change", f"finding {finding_id} has no change {asked}", "see its `changes`")])
        if not chosen:
            raise Http404(f"Finding {finding_id} has no changes: see into which it was merged.")
        return Response(EvidenceSerializer(evidence.gather(chosen[0])).data)
