"""Saved comparisons: list, read, save and refresh their snapshots."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Annotated, Any

from django.db import transaction
from django.http import Http404
from django.urls import reverse
from django.utils import timezone
from drf_spectacular.utils import extend_schema, extend_schema_field
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from apps.accounts.current_user import writer
from apps.comparison.api import FEWEST_SIDES, MOST_SIDES
from apps.comparison.pure import Comparison, NotKept, SectionSource, limited_claims
from apps.core.answers import Inline, component
from apps.rest.comparisons.comparisons import INCLUDES, LIMITS_HELP, LimitedSerializer, PartsSerializer, included
from apps.rest.framework.derive import Answer
from apps.rest.framework.fields import AddressField
from apps.rest.framework.lists import LARGEST_ID, NoParameters, Parameters, listing, next_page
from apps.rest.framework.strict import Strict
from apps.saved import services
from apps.saved.services import Saved


class SavedRowSerializer(Answer):
    of = services.SavedRow
    address = AddressField("web:saved", "slug", help_text="of its page")


@component("Saved")
@dataclass(frozen=True)
class SavedAndNow:
    saved: Annotated[Saved, Inline()]
    state: Annotated[services.SnapshotState, Inline()]


class SavedSerializer(Answer):
    of = SavedAndNow
    address = serializers.SerializerMethodField(help_text="of its page, showing this snapshot")
    parts = serializers.SerializerMethodField(
        help_text="more of it as seen: all that `include` of GET /comparisons/ names; null: nothing, or not kept"
    )

    claim_limits = serializers.SerializerMethodField(help_text=LIMITS_HELP)

    def get_address(self, shown: SavedAndNow) -> str:
        request: Request = self.context["request"]
        address = request.build_absolute_uri(reverse("web:saved", args=[shown.saved.slug]))
        return address if shown.saved.is_newest else f"{address}?snapshot={shown.saved.snapshot.number}"

    @extend_schema_field(LimitedSerializer(many=True))
    def get_claim_limits(self, shown: SavedAndNow) -> Any:
        found = shown.saved.comparison
        return [] if found is None else LimitedSerializer(limited_claims(found), many=True).data

    @extend_schema_field(PartsSerializer)
    def get_parts(self, shown: SavedAndNow) -> dict[str, Any]:
        found = shown.saved
        if found.comparison is None:
            return {}
        return {name: _part(found, found.comparison, name) for name in INCLUDES}


class SavedListParameters(Parameters):
    text = serializers.CharField(required=False, max_length=200, help_text="words of title, note, address or author")
    limit = serializers.IntegerField(required=False, default=50, min_value=1, max_value=200, help_text="entries a page")
    cursor = serializers.IntegerField(
        required=False, min_value=1, max_value=LARGEST_ID, help_text="where the page begins: taken from `next`"
    )


class SnapshotParameters(Parameters):
    snapshot = serializers.IntegerField(
        required=False, min_value=1, max_value=32_767, help_text="number of a snapshot; the newest without it"
    )


class NewSaved(Strict):
    """What to compare, as in GET /comparisons/, with title and note."""

    title = serializers.CharField(max_length=services.LONGEST_TITLE)
    note = serializers.CharField(required=False, allow_blank=True, default="", max_length=services.LONGEST_NOTE)
    side = serializers.ListField(
        child=serializers.CharField(max_length=100),
        min_length=FEWEST_SIDES,
        max_length=MOST_SIDES,
        help_text="slug of a system, or slug:id of a workload of its own; the first is the baseline",
    )
    workload = serializers.IntegerField(min_value=1, max_value=LARGEST_ID, help_text="id of a workload")
    campaign = serializers.IntegerField(required=False, min_value=1, max_value=LARGEST_ID)
    runs = serializers.ListField(
        required=False,
        child=serializers.IntegerField(min_value=1, max_value=LARGEST_ID),
        help_text="only these runs count",
    )
    acknowledged = serializers.ListField(required=False, child=serializers.CharField(max_length=80))


class SavedWords(Strict):
    title = serializers.CharField(max_length=services.LONGEST_TITLE)
    note = serializers.CharField(allow_blank=True, max_length=services.LONGEST_NOTE)


class SavedComparisons(APIView):
    @extend_schema(
        operation_id="list_saved_comparisons",
        parameters=[SavedListParameters],
        responses=listing(SavedRowSerializer, name="SavedComparison"),
    )
    def get(self, request: Request) -> Response:
        """List saved comparisons, newest first."""
        parameters = SavedListParameters.read(request)
        limit = parameters["limit"]
        words = parameters.get("text", "").split()
        found = services.rows(words=words, limit=limit + 1, before=parameters.get("cursor"))
        cursor = found[limit - 1][0] if len(found) > limit else None
        page = SavedRowSerializer([row for _, row in found[:limit]], many=True, context={"request": request})
        return Response({"next": next_page(request, cursor=cursor), "results": page.data})

    @extend_schema(operation_id="save_comparison", request=NewSaved, responses={201: SavedSerializer})
    def post(self, request: Request) -> Response:
        """Save a snapshot of a comparison under its own address."""
        stated = NewSaved(data=request.data)
        stated.is_valid(raise_exception=True)
        fields = stated.validated_data
        # Sent twice it is saved twice: an error while the response is built must roll it back.
        with transaction.atomic():
            row = services.save(query=_query(fields), title=fields["title"], note=fields["note"], by=writer(request))
            answer = _answer(request, row.slug, None)
        return Response(answer, status=201, headers={"Location": reverse("api:saved-comparison", args=[row.slug])})


class OneSavedComparison(APIView):
    @extend_schema(operation_id="read_saved_comparison", parameters=[SnapshotParameters], responses=SavedSerializer)
    def get(self, request: Request, slug: str) -> Response:
        """A saved comparison as in its snapshot, and what differs now."""
        parameters = SnapshotParameters.read(request)
        return Response(_answer(request, slug, parameters.get("snapshot")))

    @extend_schema(operation_id="describe_saved_comparison", request=SavedWords, responses=SavedSerializer)
    def put(self, request: Request, slug: str) -> Response:
        """Change title and note; address and snapshots are kept."""
        stated = SavedWords(data=request.data)
        stated.is_valid(raise_exception=True)
        with _as_404():
            services.describe(slug=slug, **stated.validated_data)
        return Response(_answer(request, slug, None))

    @extend_schema(operation_id="delete_saved_comparison", responses={204: None})
    def delete(self, request: Request, slug: str) -> Response:
        """Delete it with its snapshots and shared links: its author or an administrator. Its runs stay."""
        NoParameters.read(request)
        path = reverse("web:saved", args=[slug])
        with _as_404():
            services.delete(slug=slug, path=path, by=writer(request), now=timezone.now())
        return Response(status=204)


class RefreshSavedComparison(APIView):
    @extend_schema(operation_id="refresh_saved_comparison", request=None, responses=SavedSerializer)
    def post(self, request: Request, slug: str) -> Response:
        """Repeat the comparison: creates a new snapshot if the result differs. Older ones are kept."""
        NoParameters.read(request)
        with _as_404():
            services.refresh(slug=slug, by=writer(request))
        return Response(_answer(request, slug, None))


@contextmanager
def _as_404() -> Iterator[None]:
    try:
        yield
    except services.NoSuchSnapshot as error:
        raise Http404(str(error)) from error


def _part(found: Saved, comparison: Comparison, name: str) -> Any:
    try:
        return included(name, SectionSource(comparison, found.parts), {})
    except NotKept:
        return None


def _query(fields: dict[str, Any]) -> dict[str, list[str]]:
    """As the query parameters of Compare."""
    query = {"side": list(fields["side"]), "workload": [str(fields["workload"])]}
    if "campaign" in fields:
        query["campaign"] = [str(fields["campaign"])]
    if fields.get("runs"):
        query["runs"] = [",".join(str(run) for run in fields["runs"])]
    return query | {"acknowledged": list(fields.get("acknowledged", ()))}


def _answer(request: Request, slug: str, snapshot: int | None) -> Any:
    with _as_404():
        found = services.load(slug, snapshot)
    shown = SavedAndNow(found, services.standing(found))
    return SavedSerializer(shown, context={"request": request}).data
