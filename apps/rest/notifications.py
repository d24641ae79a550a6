"""Notifications of findings: teams, their subscriptions, deliveries, and the caller's own address."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any

from django.db.models import QuerySet
from django.http import Http404
from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.permissions import IsAuthenticated
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from apps.accounts.current_user import may_write, signed_in, writer
from apps.accounts.models import ApiToken, User
from apps.core.answers import Inline, component
from apps.notifications import deliver, queries, services
from apps.notifications.models import CHOOSABLE, Delivery, Subscription, Team
from apps.notifications.queries import DeliveryRow, SubscriptionRow, TeamRow
from apps.notifications.services import LONGEST_NAME, LONGEST_SECRET, SHORTEST_SECRET, NoSuchNotification
from apps.rest.framework.derive import serializer_of
from apps.rest.framework.lists import LARGEST_ID, NoParameters, PageParameters, listing, page_of, whole
from apps.rest.framework.permissions import WithinScope
from apps.rest.framework.strict import ChoiceField, Strict
from workers import tasks

# ---------------------------------------------------------------- serializers


class NewTeam(Strict):
    name = serializers.CharField(max_length=LONGEST_NAME)
    members = serializers.ListField(
        child=serializers.CharField(max_length=150), max_length=500, help_text="user names", default=list
    )


class ChangedTeam(NewTeam):
    # Required: a request without it would silently remove all members.
    members = serializers.ListField(
        child=serializers.CharField(max_length=150), max_length=500, help_text="user names, all of them"
    )


class NewSubscription(Strict):
    team = serializers.IntegerField(min_value=1, max_value=LARGEST_ID, help_text="id")
    kind = ChoiceField(choices=Subscription.Kind.values)
    address = serializers.CharField(
        required=False, allow_blank=True, default="", max_length=500,
        help_text="of a mailbox or a webhook; empty for e-mail: each member's own mailbox; empty, or in part as it is "
        "shown, for a chat: the present one",
    )  # fmt: skip
    secret = serializers.CharField(
        required=False, allow_blank=True, default="", max_length=LONGEST_SECRET,
        help_text=f"of a generic webhook, from {SHORTEST_SECRET} characters on; without it one is made or kept",
    )  # fmt: skip
    asks = serializers.DictField(required=False, default=dict, help_text="filter, as of GET /findings/, without `sort`")
    events = serializers.ListField(
        child=ChoiceField(choices=[each.value for each in CHOOSABLE]), min_length=1, max_length=len(CHOOSABLE)
    )
    digest = ChoiceField(choices=Subscription.Digest.values, required=False, default=Subscription.Digest.AT_ONCE.value)
    hour = serializers.IntegerField(required=False, default=7, min_value=0, max_value=23)
    zone = serializers.CharField(required=False, default="UTC", max_length=60)
    is_enabled = serializers.BooleanField(required=False, default=True)


@component("OneDelivery")
@dataclass(frozen=True)
class DeliveryWithText:
    row: Annotated[DeliveryRow, Inline()]
    said: Annotated[str, "what it says, as text"]


class DeliveryParameters(PageParameters):
    subscription = serializers.IntegerField(required=False, min_value=1, max_value=LARGEST_ID, help_text="id")
    state = ChoiceField(choices=list(queries.STATES), required=False, help_text="`waiting`: also to be tried again")


class OwnAddress(Strict):
    address = serializers.CharField(allow_blank=True, max_length=254, help_text="e-mail address; empty: no mail")


# ---------------------------------------------------------------- teams


class Teams(APIView):
    @extend_schema(operation_id="list_teams", responses=listing(serializer_of(TeamRow), name="Team"))
    def get(self, request: Request) -> Response:
        """List teams by name; member names only for signed-in users."""
        NoParameters.read(request)
        return whole(_teams(request), serializer=serializer_of(TeamRow))

    @extend_schema(operation_id="make_team", request=NewTeam, responses={201: serializer_of(TeamRow)})
    def post(self, request: Request) -> Response:
        """Create a team."""
        return Response(_kept_team(request, None, NewTeam(data=request.data)), status=201)


class OneTeam(APIView):
    @extend_schema(operation_id="read_team", responses=serializer_of(TeamRow))
    def get(self, request: Request, team_id: int) -> Response:
        """A team with its members."""
        NoParameters.read(request)
        return Response(_team(team_id, request))

    @extend_schema(operation_id="change_team", request=ChangedTeam, responses=serializer_of(TeamRow))
    def put(self, request: Request, team_id: int) -> Response:
        """Replace a team's name and members."""
        return Response(_kept_team(request, team_id, ChangedTeam(data=request.data)))

    @extend_schema(operation_id="delete_team", responses={204: None})
    def delete(self, request: Request, team_id: int) -> Response:
        """Delete a team that has no subscriptions."""
        NoParameters.read(request)
        try:
            services.delete_team(team_id=team_id)
        except NoSuchNotification as error:
            raise Http404(str(error)) from error
        return Response(status=204)


def _kept_team(request: Request, team_id: int | None, stated: NewTeam) -> dict[str, Any]:
    stated.is_valid(raise_exception=True)
    try:
        team = services.keep_team(team_id=team_id, **stated.validated_data)
    except NoSuchNotification as error:
        raise Http404(str(error)) from error
    return _team(team.pk, request)


def _teams(request: Request, only: QuerySet[Team] | None = None) -> list[TeamRow]:
    return queries.teams(viewer=_viewer(request), may_see=may_write(request), only=only)


def _team(team_id: int, request: Request) -> dict[str, Any]:
    for row in _teams(request, only=Team.objects.filter(pk=team_id)):
        return dict(serializer_of(TeamRow)(row).data)
    raise Http404(f"There is no team {team_id}.")


# ---------------------------------------------------------------- subscriptions


class Subscriptions(APIView):
    @extend_schema(
        operation_id="list_subscriptions", responses=listing(serializer_of(SubscriptionRow), name="Subscription")
    )
    def get(self, request: Request) -> Response:
        """List subscriptions with recipients, events and schedule, by team."""
        NoParameters.read(request)
        rows = [row for team in _teams(request) for row in team.subscriptions]
        return whole(rows, serializer=serializer_of(SubscriptionRow))

    @extend_schema(operation_id="subscribe", request=NewSubscription, responses={201: serializer_of(SubscriptionRow)})
    def post(self, request: Request) -> Response:
        """Subscribe a team to future events of findings."""
        return Response(_kept_subscription(request, None), status=201)


class OneSubscription(APIView):
    @extend_schema(operation_id="read_subscription", responses=serializer_of(SubscriptionRow))
    def get(self, request: Request, subscription_id: int) -> Response:
        """A subscription; its secret and full address only for who may change it: a token needs the scope review."""
        NoParameters.read(request)
        return Response(_subscription(subscription_id, request))

    @extend_schema(
        operation_id="change_subscription", request=NewSubscription, responses=serializer_of(SubscriptionRow)
    )
    def put(self, request: Request, subscription_id: int) -> Response:
        """Replace all fields of a subscription except its kind. Disabling it gives up waiting deliveries."""
        return Response(_kept_subscription(request, subscription_id))

    @extend_schema(operation_id="delete_subscription", responses={204: None})
    def delete(self, request: Request, subscription_id: int) -> Response:
        """Delete a subscription and its delivery log."""
        NoParameters.read(request)
        try:
            services.delete_subscription(subscription_id=subscription_id)
        except NoSuchNotification as error:
            raise Http404(str(error)) from error
        return Response(status=204)


class SendTest(APIView):
    @extend_schema(
        operation_id="test_subscription", request=None, responses={202: serializer_of(DeliveryRow)(many=True)}
    )
    def post(self, request: Request, subscription_id: int) -> Response:
        """Send a test message: one delivery per recipient, whose result follows later."""
        NoParameters.read(request)
        try:
            made = services.send_test(subscription_id=subscription_id, now=timezone.now())
        except NoSuchNotification as error:
            raise Http404(str(error)) from error
        for delivery in made:
            tasks.enqueue(tasks.send_delivery, delivery_id=delivery.pk)
        found = queries.deliveries(viewer=_viewer(request)).filter(pk__in=[delivery.pk for delivery in made])
        rows = queries.delivery_rows(list(found), may_see=may_write(request))
        return Response(serializer_of(DeliveryRow)(rows, many=True).data, status=202)


def _kept_subscription(request: Request, subscription_id: int | None) -> dict[str, Any]:
    stated = NewSubscription(data=request.data)
    stated.is_valid(raise_exception=True)
    try:
        kept = services.keep_subscription(subscription_id=subscription_id, by=writer(request), **stated.validated_data)
    except NoSuchNotification as error:
        raise Http404(str(error)) from error
    return _subscription(kept.pk, request)


def _subscription(subscription_id: int, request: Request) -> dict[str, Any]:
    found = Subscription.objects.select_related("team", "created_by").filter(pk=subscription_id).first()
    if found is None:
        raise Http404(f"There is no subscription {subscription_id}.")
    row = queries.subscription_row(found, may_see=may_write(request))
    return dict(serializer_of(SubscriptionRow)(row).data)


# ---------------------------------------------------------------- deliveries


class Deliveries(APIView):
    @extend_schema(
        operation_id="list_deliveries",
        parameters=[DeliveryParameters],
        responses=listing(serializer_of(DeliveryRow), name="Delivery"),
    )
    def get(self, request: Request) -> Response:
        """List deliveries, newest first. Those to a person are shown only to that person and administrators."""
        asked = DeliveryParameters.read(request)
        viewer = _viewer(request)
        found = queries.deliveries(viewer=viewer, subscription=asked.get("subscription"), state=asked.get("state", ""))
        plain = found.select_related(None).prefetch_related(None)

        def load(page: Sequence[Delivery]) -> Sequence[DeliveryRow]:
            ids = [each.pk for each in page]
            rows = list(queries.deliveries(viewer=viewer).filter(pk__in=ids))
            return queries.delivery_rows(rows, may_see=may_write(request))

        return page_of(self, request, plain, key="-id", serializer=serializer_of(DeliveryRow), load=load)


class OneDelivery(APIView):
    @extend_schema(operation_id="read_delivery", responses=serializer_of(DeliveryWithText))
    def get(self, request: Request, delivery_id: int) -> Response:
        """A delivery with its text."""
        NoParameters.read(request)
        return Response(_delivery(delivery_id, request))


class RetryDelivery(APIView):
    @extend_schema(operation_id="retry_delivery", request=None, responses={202: serializer_of(DeliveryWithText)})
    def post(self, request: Request, delivery_id: int) -> Response:
        """Retry a delivery that was given up or is waiting; no effect on one that was sent."""
        NoParameters.read(request)
        _delivery(delivery_id, request)
        if deliver.retry(delivery_id=delivery_id, now=timezone.now()):
            tasks.enqueue(tasks.send_delivery, delivery_id=delivery_id)
        return Response(_delivery(delivery_id, request), status=202)


def _delivery(delivery_id: int, request: Request) -> Any:
    found = queries.deliveries(viewer=_viewer(request)).filter(pk=delivery_id).first()
    if found is None:
        raise Http404(f"There is no delivery {delivery_id} that you may see.")
    (row,) = queries.delivery_rows([found], may_see=may_write(request))
    return serializer_of(DeliveryWithText)(DeliveryWithText(row, queries.message_of(found))).data


# ---------------------------------------------------------------- the caller


class MyAddress(APIView):
    """Readers have an address, too."""

    permission_classes = [WithinScope, IsAuthenticated]
    write_scope = ApiToken.Scope.READ  # it concerns the person alone

    @extend_schema(operation_id="read_own_address", responses=OwnAddress)
    def get(self, request: Request) -> Response:
        """Your address for notifications of assignments and mentions."""
        NoParameters.read(request)
        return Response({"address": writer(request).email})

    @extend_schema(operation_id="change_own_address", request=OwnAddress, responses=OwnAddress)
    def put(self, request: Request) -> Response:
        """Set that address; empty: no mail."""
        stated = OwnAddress(data=request.data)
        stated.is_valid(raise_exception=True)
        services.keep_own_address(user=writer(request), address=stated.validated_data["address"])
        return Response({"address": writer(request).email})


def _viewer(request: Request) -> User | None:
    return signed_in(request)
