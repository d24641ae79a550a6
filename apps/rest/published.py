"""Published results: always separate from measured runs, always with qualifier and source."""

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from apps.published import queries
from apps.published.values import FigureFilter, FigureValue
from apps.rest.framework.derive import serializer_of
from apps.rest.framework.lists import Parameters, listing, whole


class PublishedParameters(Parameters):
    platform = serializers.ListField(
        child=serializers.SlugField(), required=False, max_length=50, help_text="figures about any of these"
    )
    question = serializers.ListField(child=serializers.CharField(max_length=80), required=False, max_length=50)
    article = serializers.ListField(
        child=serializers.SlugField(), required=False, max_length=50, help_text="slugs of articles"
    )


class Published(APIView):
    @extend_schema(
        operation_id="list_published_figures",
        parameters=[PublishedParameters],
        responses=listing(serializer_of(FigureValue), name="Figure"),
    )
    def get(self, request: Request) -> Response:
        """List published figures by question, newest article first."""
        parameters = PublishedParameters.read(request)
        chosen = FigureFilter(
            platforms=tuple(parameters.get("platform", ())),
            questions=tuple(parameters.get("question", ())),
            articles=tuple(parameters.get("article", ())),
        )
        return whole(queries.list_figures(chosen), serializer=serializer_of(FigureValue))
