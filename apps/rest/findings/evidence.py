"""Evidence of a finding, as on its page beside the review."""

from django.http import Http404
from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from apps.core.problems import FieldProblem, Invalid
from apps.regressions.api import Evidence, evidence
from apps.regressions.api import finding_queries as queries
from apps.rest.framework.derive import serializer_of
from apps.rest.framework.lists import LARGEST_ID, Parameters


class EvidenceParameters(Parameters):
    change = serializers.IntegerField(
        required=False, min_value=1, max_value=LARGEST_ID, help_text="id; left out: the furthest for the worse"
    )


class FindingEvidence(APIView):
    @extend_schema(
        operation_id="read_finding_evidence", parameters=[EvidenceParameters], responses=serializer_of(Evidence)
    )
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
        return Response(serializer_of(Evidence)(evidence.gather(chosen[0])).data)
