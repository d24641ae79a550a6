"""Published results: always separate from measured runs, always with qualifier and source."""

from dataclasses import dataclass

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from apps.accounts.models import ApiToken
from apps.published import queries, services
from apps.published.values import FigureFilter, FigureValue
from apps.rest.framework.derive import serializer_of
from apps.rest.framework.lists import Parameters, listing, whole
from apps.rest.framework.messages import AsItIs, read_body
from apps.rest.framework.strict import SlugField


class PublishedParameters(Parameters):
    platform = serializers.ListField(
        child=SlugField(), required=False, max_length=50, help_text="figures about any of these"
    )
    question = serializers.ListField(child=serializers.CharField(max_length=80), required=False, max_length=50)
    article = serializers.ListField(
        child=serializers.SlugField(), required=False, max_length=50, help_text="slugs of articles"
    )


@dataclass(frozen=True)
class LoadedArticle:
    slug: str
    figures: int


class Published(APIView):
    write_scope = ApiToken.Scope.SUBMIT
    parser_classes = [AsItIs]

    @extend_schema(
        operation_id="load_published_article",
        request={"application/yaml": {"type": "string"}},
        responses={201: serializer_of(LoadedArticle)},
    )
    def post(self, request: Request) -> Response:
        """Load an article's file, sent as the body; one of the same slug is replaced.

        docs/reference/published-format.md has the format. `field` names the entry of the file that is refused.
        """
        article = services.load_upload(read_body(request, limit=services.LARGEST))
        loaded = LoadedArticle(article.slug, article.figures.count())
        return Response(serializer_of(LoadedArticle)(loaded).data, status=201)

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
