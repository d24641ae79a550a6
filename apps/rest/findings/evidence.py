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
from apps.regressions.api import IndicatorDifference, IndicatorValue, SideRun, WorkDifference, evidence
from apps.regressions.api import finding_queries as queries
from apps.rest.framework.derive import Answer
from apps.rest.framework.fields import WordsField
from apps.rest.framework.lists import LARGEST_ID, Parameters


class EvidenceParameters(Parameters):
    change = serializers.IntegerField(
        required=False, min_value=1, max_value=LARGEST_ID, help_text="id; left out: the furthest for the worse"
    )


class SideRunSerializer(Answer):
    of = SideRun
    side = serializers.ChoiceField(choices=[evidence.BEFORE, evidence.AFTER])


class IndicatorValueSerializer(Answer):
    """The reading that most repetitions of a side agree on."""

    of = IndicatorValue
    also = ("lowest", "highest", "runs")


class IndicatorDifferenceSerializer(Answer):
    of = IndicatorDifference
    also = ("title", "span")
    indicator = serializers.CharField(source="indicator.key", help_text="key in GET use-method/")


class WorkDifferenceSerializer(Answer):
    of = WorkDifference
    names = {"key": "metric"}


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
    use = IndicatorDifferenceSerializer(source="use.differences", many=True, help_text="the most telling first")
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
