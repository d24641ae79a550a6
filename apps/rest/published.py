"""Published results: always separate from measured runs, always with qualifier and source."""

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from apps.published import queries
from apps.published.values import FigureFilter
from apps.rest.framework.fields import WordsField
from apps.rest.framework.lists import Parameters, listing, whole


class ArticleSerializer(serializers.Serializer[Any]):
    slug = serializers.CharField()
    title = serializers.CharField()
    author = serializers.CharField(help_text="empty: not stated")
    publisher = serializers.CharField()
    published = serializers.CharField(help_text="YYYY, YYYY-MM or YYYY-MM-DD, as stated")
    tested = serializers.CharField()
    address = serializers.CharField()


class PublishedSideSerializer(serializers.Serializer[Any]):
    name = serializers.CharField(help_text="as the article calls it")
    platform = serializers.CharField(help_text="slug in the catalog; empty: it is no platform there")


class FigureSerializer(serializers.Serializer[Any]):
    """One published figure. There is never an interval: articles give none."""

    id = serializers.IntegerField()
    article = ArticleSerializer()
    entry = serializers.CharField(help_text="its place in the article's file")
    question = serializers.CharField()
    workload = serializers.CharField()
    conditions = serializers.DictField()
    metric = serializers.CharField()
    direction = serializers.CharField()
    unit = serializers.CharField(help_text="`ratio`: numerator to denominator, without absolute values")
    value = serializers.FloatField(allow_null=True, help_text="null: a range or only a note is stated")
    low = serializers.FloatField(allow_null=True)
    high = serializers.FloatField(allow_null=True)
    qualifier = serializers.CharField(help_text="exact, approx, at_least, at_most; empty: no number")
    side = PublishedSideSerializer(allow_null=True)
    numerator = PublishedSideSerializer(allow_null=True)
    denominator = PublishedSideSerializer(allow_null=True)
    hardware = serializers.CharField()
    note = serializers.CharField()
    text = WordsField(help_text="the figure in words, for example `about 18 s`")


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
        responses=listing(FigureSerializer, name="Figure"),
    )
    def get(self, request: Request) -> Response:
        """List published figures by question, newest article first."""
        parameters = PublishedParameters.read(request)
        chosen = FigureFilter(
            platforms=tuple(parameters.get("platform", ())),
            questions=tuple(parameters.get("question", ())),
            articles=tuple(parameters.get("article", ())),
        )
        return whole(queries.list_figures(chosen), serializer=FigureSerializer)
