"""Findings: the list, one finding with its history, and all actions on it."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from django.http import Http404
from django.urls import reverse
from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from apps.accounts.current_user import signed_in, writer
from apps.accounts.models import User
from apps.core.problems import FieldProblem, Invalid
from apps.dispatch.api import MAX_REPETITIONS
from apps.regressions.api import FindingDetail, RepeatPlan, filters, review
from apps.regressions.api import finding_queries as queries
from apps.rest.findings.serializers import (
    Commented,
    CommentedSerializer,
    FindingDetailSerializer,
    FindingSerializer,
)
from apps.rest.framework.derive import serializer_of
from apps.rest.framework.lists import LARGEST_ID, NoParameters, Parameters, listing, next_page
from apps.rest.framework.problems import ApiProblem
from apps.rest.framework.strict import ChoiceField, FiniteField, MultipleChoiceField, Strict

# ---------------------------------------------------------------- requests


class FindingParameters(Parameters):
    state = MultipleChoiceField(
        required=False, choices=["open", *filters.STATES], help_text="any of them; open: new, under review, confirmed"
    )
    verdict = MultipleChoiceField(required=False, choices=list(filters.VERDICTS), help_text="any of them")
    kind = ChoiceField(required=False, choices=list(filters.KINDS))
    platform = serializers.CharField(required=False, max_length=40, help_text="slug")
    hardware = serializers.CharField(required=False, max_length=80, help_text="slug of a hardware class")
    release = serializers.CharField(required=False, max_length=80, help_text="version")
    family = serializers.CharField(required=False, max_length=40, help_text="load tool")
    owner = serializers.CharField(required=False, max_length=150, help_text="user name, me or nobody")
    label = serializers.ListField(  # type: ignore[assignment]  # DRF's metaclass removes it
        child=serializers.CharField(max_length=60), required=False, help_text="all of them"
    )
    smallest = FiniteField(required=False, min_value=0, help_text="relative change: 0.05 for 5 %")
    text = serializers.CharField(required=False, max_length=200, help_text="words of title, labels or reason")
    sort = ChoiceField(
        required=False, choices=list(filters.SORTS), help_text="size (furthest for the worse first), newest or changed"
    )
    limit = serializers.IntegerField(required=False, default=50, min_value=1, max_value=200, help_text="entries a page")
    cursor = serializers.CharField(required=False, max_length=80, help_text="where the page begins: taken from `next`")


class FindingVersion(Strict):
    seen = serializers.DateTimeField(
        required=False,
        allow_null=True,
        default=None,
        help_text="of the finding as you saw it: refused (409) when it was changed since; left out: as it is now",
    )


class NewState(FindingVersion):
    state = serializers.CharField(max_length=16, help_text="one of the finding's `next_states`")
    reason = serializers.CharField(required=False, allow_blank=True, default="", max_length=review.LONGEST_REASON)


class NewAcceptance(FindingVersion):
    reason = serializers.CharField(max_length=review.LONGEST_REASON)
    until = serializers.DateField(help_text="the last day; after it the finding is new again")


class Reopening(FindingVersion):
    reason = serializers.CharField(required=False, allow_blank=True, default="", max_length=review.LONGEST_REASON)


class NewOwner(FindingVersion):
    owner = serializers.CharField(allow_null=True, max_length=150, help_text="user name; null: nobody")


class NewDue(FindingVersion):
    due_on = serializers.DateField(allow_null=True, help_text="today or later, at most ten years away; null: none")


class NewLabels(FindingVersion):
    labels = serializers.ListField(
        child=serializers.CharField(max_length=review.LONGEST_LABEL), max_length=100, help_text="all of them"
    )


class NewComment(Strict):
    text = serializers.CharField(max_length=review.LONGEST_TEXT, help_text="@name mentions a person")


class NewLink(Strict):
    url = serializers.CharField(max_length=500, help_text="https:// or http://")
    title = serializers.CharField(required=False, allow_blank=True, default="", max_length=200)


class NewMerge(FindingVersion):
    into = serializers.IntegerField(min_value=1, max_value=LARGEST_ID, help_text="id of the finding that takes all")


class NewSplit(FindingVersion):
    changes = serializers.ListField(
        child=serializers.IntegerField(min_value=1, max_value=LARGEST_ID),
        min_length=1,
        help_text="ids of the changes that become a finding of their own",
    )


class NewRepetitions(FindingVersion):
    repetitions = serializers.IntegerField(
        required=False,
        allow_null=True,
        default=None,
        min_value=1,
        max_value=MAX_REPETITIONS,
        help_text="left out: as GET says",
    )


# ---------------------------------------------------------------- endpoints


class Findings(APIView):
    @extend_schema(
        operation_id="list_findings",
        parameters=[FindingParameters],
        responses=listing(FindingSerializer, name="Finding"),
    )
    def get(self, request: Request) -> Response:
        """List findings that were not merged into others, the largest worsening first unless `sort` is given."""
        stated = FindingParameters.read(request)
        limit, cursor = stated.pop("limit"), stated.pop("cursor", "")
        wanted = filters.read({name: list(each) if isinstance(each, set) else each for name, each in stated.items()})
        after = filters.read_place(cursor, wanted.sort)
        if cursor and after is None:
            raise Invalid([FieldProblem("cursor", f"{cursor!r} is none of this list", "take it from `next`")])
        me = signed_in(request)
        rows = queries.list_findings(wanted, me=me, limit=limit + 1, after=after)
        following = str(queries.place_of(rows[limit - 1], wanted.sort)) if len(rows) > limit else None
        page = FindingSerializer(rows[:limit], many=True, context={"request": request})
        return Response({"next": next_page(request, cursor=following), "results": page.data})


class OneFinding(APIView):
    @extend_schema(operation_id="read_finding", responses=FindingDetailSerializer)
    def get(self, request: Request, finding_id: int) -> Response:
        """A finding with its changes, its whole activity, links, and the state of its repetitions."""
        NoParameters.read(request)
        return Response(_answer(request, finding_id))


class FindingState(APIView):
    @extend_schema(operation_id="set_finding_state", request=NewState, responses=FindingDetailSerializer)
    def put(self, request: Request, finding_id: int) -> Response:
        """Set the state; docs/howto/findings.md has the transitions. Acceptance and re-opening have endpoints too."""
        with _review_errors():
            review.set_state(finding_id=finding_id, by=writer(request), **_read(NewState, request))
        return Response(_answer(request, finding_id))


class FindingAcceptance(APIView):
    @extend_schema(operation_id="accept_finding", request=NewAcceptance, responses=FindingDetailSerializer)
    def put(self, request: Request, finding_id: int) -> Response:
        """Accept the finding until the end of a day, with a reason: until then it passes the release gate."""
        with _review_errors():
            stated, today = _read(NewAcceptance, request), timezone.localdate()
            review.accept(finding_id=finding_id, by=writer(request), today=today, **stated)
        return Response(_answer(request, finding_id))


class ReopenFinding(APIView):
    @extend_schema(operation_id="reopen_finding", request=Reopening, responses=FindingDetailSerializer)
    def post(self, request: Request, finding_id: int) -> Response:
        """Set an accepted or closed finding to new; an acceptance ends."""
        with _review_errors():
            review.reopen(finding_id=finding_id, by=writer(request), **_read(Reopening, request))
        return Response(_answer(request, finding_id))


class FindingOwner(APIView):
    @extend_schema(operation_id="assign_finding", request=NewOwner, responses=FindingDetailSerializer)
    def put(self, request: Request, finding_id: int) -> Response:
        """Assign the finding to a person who may write, or to nobody."""
        with _review_errors():
            stated = _read(NewOwner, request)
            stated["owner"] = _owner(stated["owner"])
            review.assign(finding_id=finding_id, by=writer(request), **stated)
        return Response(_answer(request, finding_id))


class FindingDue(APIView):
    @extend_schema(operation_id="set_finding_due", request=NewDue, responses=FindingDetailSerializer)
    def put(self, request: Request, finding_id: int) -> Response:
        """Set or clear the due date."""
        with _review_errors():
            stated, today = _read(NewDue, request), timezone.localdate()
            review.set_due(finding_id=finding_id, by=writer(request), today=today, **stated)
        return Response(_answer(request, finding_id))


class FindingLabels(APIView):
    @extend_schema(operation_id="label_finding", request=NewLabels, responses=FindingDetailSerializer)
    def put(self, request: Request, finding_id: int) -> Response:
        """Replace all labels."""
        with _review_errors():
            review.set_labels(finding_id=finding_id, by=writer(request), **_read(NewLabels, request))
        return Response(_answer(request, finding_id))


class FindingComments(APIView):
    @extend_schema(operation_id="comment_finding", request=NewComment, responses={201: CommentedSerializer})
    def post(self, request: Request, finding_id: int) -> Response:
        """Add a comment; mentioned people are notified. `not_told`: mentioned names without an account."""
        with _review_errors():
            made = review.comment(finding_id=finding_id, by=writer(request), **_read(NewComment, request))
        found = Commented(_load(finding_id), review.unknown_mentions(made))
        return Response(CommentedSerializer(found, context={"request": request}).data, status=201)


class FindingLinks(APIView):
    @extend_schema(operation_id="link_finding", request=NewLink, responses={201: FindingDetailSerializer})
    def post(self, request: Request, finding_id: int) -> Response:
        """Link an external issue; the same address is stored once."""
        with _review_errors():
            review.link(finding_id=finding_id, by=writer(request), **_read(NewLink, request))
        return Response(_answer(request, finding_id), status=201)


class FindingLink(APIView):
    @extend_schema(operation_id="unlink_finding", responses={204: None})
    def delete(self, request: Request, finding_id: int, link_id: int) -> Response:
        """Remove a link; the finding's activity keeps its address."""
        NoParameters.read(request)
        with _review_errors():
            review.unlink(finding_id=finding_id, by=writer(request), link_id=link_id)
        return Response(status=204)


class MergeFinding(APIView):
    @extend_schema(operation_id="merge_finding", request=NewMerge, responses=FindingDetailSerializer)
    def post(self, request: Request, finding_id: int) -> Response:
        """Move all its changes into another finding, which is returned; later changes of this finding go there too."""
        with _review_errors():
            stated = _read(NewMerge, request)
            into = stated.pop("into")
            if not queries.load_rows([into]):
                raise Invalid([FieldProblem("into", f"there is no finding {into}", "see /api/v1/findings/")])
            review.merge(finding_id=finding_id, into_id=into, by=writer(request), **stated)
        return Response(_answer(request, into))


class SplitFinding(APIView):
    @extend_schema(operation_id="split_finding", request=NewSplit, responses={201: FindingDetailSerializer})
    def post(self, request: Request, finding_id: int) -> Response:
        """Move some of its changes into a new finding, which is returned."""
        with _review_errors():
            stated = _read(NewSplit, request)
            made = review.split(
                finding_id=finding_id, by=writer(request), change_ids=stated["changes"], seen=stated["seen"]
            )
        address = reverse("api:finding", args=[made.pk])
        return Response(_answer(request, made.pk), status=201, headers={"Location": address})


class FindingRepetitions(APIView):
    @extend_schema(operation_id="plan_finding_repetitions", responses=serializer_of(RepeatPlan))
    def get(self, request: Request, finding_id: int) -> Response:
        """The plan of a campaign that measures both sides again."""
        NoParameters.read(request)
        with _review_errors():
            return Response(serializer_of(RepeatPlan)(review.plan_of(finding_id)).data)

    @extend_schema(operation_id="repeat_finding", request=NewRepetitions, responses={201: FindingDetailSerializer})
    def post(self, request: Request, finding_id: int) -> Response:
        """Start a campaign that measures both sides again, interleaved, with the same parameters on the same systems.

        The finding is updated as runs complete. Refused while such a campaign is unfinished.
        """
        with _review_errors():
            campaign = review.repeat(finding_id=finding_id, by=writer(request), **_read(NewRepetitions, request))
        address = reverse("api:campaign", args=[campaign.pk])
        return Response(_answer(request, finding_id), status=201, headers={"Location": address})


def _read(body: type[Strict], request: Request) -> dict[str, Any]:
    stated = body(data=request.data)
    stated.is_valid(raise_exception=True)
    return dict(stated.validated_data)


def _owner(name: str | None) -> User | None:
    if name is None:
        return None
    found = User.objects.filter(username=name).first()
    if found is None:
        raise Invalid([FieldProblem("owner", f"there is nobody called {name!r}", "give a user name, or null")])
    return found


def _answer(request: Request, finding_id: int) -> Any:
    return FindingDetailSerializer(_load(finding_id), context={"request": request}).data


def _load(finding_id: int) -> FindingDetail:
    found = queries.load_finding(finding_id, now=timezone.now())
    if found is None:
        raise Http404(f"There is no finding {finding_id}.")
    return found


@contextmanager
def _review_errors() -> Iterator[None]:
    """Translate errors of review actions into API errors."""
    try:
        yield
    except review.NoSuchFinding as error:
        raise Http404(str(error)) from error
    except review.FindingChanged as error:
        errors = [FieldProblem("seen", each) for each in error.since]
        title = "Changed in the meantime"
        raise ApiProblem(status=409, kind="conflict", title=title, detail=str(error), errors=errors) from error
