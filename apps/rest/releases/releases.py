"""Releases with their latest comparison, and their sign-offs."""

from collections.abc import Mapping, Sequence
from typing import Any

from django.http import Http404
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from apps.accounts.current_user import writer
from apps.catalog.api import queries as catalog_queries
from apps.catalog.models import HardwareClass, Platform, Release
from apps.core.problems import FieldProblem, Invalid
from apps.regressions.api import StoredCheck, sign_offs, stored_checks
from apps.regressions.models import CheckedRelease, SignOff
from apps.rest.catalog.known import require_known
from apps.rest.framework.derive import serializer_of
from apps.rest.framework.lists import NoParameters, PageParameters, listing, page_of
from apps.rest.framework.problems import changed_since
from apps.rest.framework.strict import SlugField, Strict
from apps.rest.releases.checks import named

# Each is read with all its rows.
MOST_RELEASES = 100


class SignOffParameters(PageParameters):
    platform = serializers.CharField(required=False, max_length=40, help_text="slug")
    hardware = serializers.CharField(required=False, max_length=80, help_text="slug of a hardware class")
    release = serializers.CharField(required=False, max_length=80, help_text="version, or its beginning in whole parts")


class CheckedReleaseParameters(SignOffParameters):
    limit = serializers.IntegerField(
        required=False, min_value=1, max_value=MOST_RELEASES, help_text="entries a page; 100"
    )


class SignOffSerializer(serializers.ModelSerializer[SignOff]):
    platform = serializers.CharField(source="release.platform.slug")
    release = serializers.CharField(source="release.version")
    hardware = serializers.CharField(source="hardware_class.slug")
    by = serializers.CharField(source="by.username")
    seen = serializers.JSONField(help_text="what was compared then: answer, result, counts, findings, fingerprint")
    withdrawn_by = serializers.CharField(source="withdrawn_by.username", allow_null=True, default=None)

    class Meta:
        model = SignOff
        fields = ["id", "platform", "release", "hardware", "by", "at", "note", "seen", "withdrawn_by", "withdrawn_at"]


class NewSignOff(Strict):
    platform = SlugField(max_length=40, help_text="slug")
    release = serializers.CharField(max_length=80, help_text="version")
    hardware = SlugField(max_length=80, help_text="slug of a hardware class")
    note = serializers.CharField(
        required=False, allow_blank=True, default="", max_length=sign_offs.LONGEST_NOTE, help_text="why, if not plain"
    )
    fingerprint = serializers.CharField(
        required=False,
        max_length=64,
        help_text="of the comparison that you saw: refused when it has changed; leave out to sign off what is there",
    )


class CheckedReleases(APIView):
    @extend_schema(
        operation_id="list_checked_releases",
        parameters=[CheckedReleaseParameters],
        responses=listing(serializer_of(StoredCheck), name="CheckedRelease"),
    )
    def get(self, request: Request) -> Response:
        """List releases by hardware class with their latest comparison with the previous release."""
        asked = CheckedReleaseParameters.read(request)
        # The stored comparison is read for this page's rows only.
        rows = CheckedRelease.objects.defer("told").filter(**_where(asked))
        return page_of(self, request, rows, key="-id", serializer=serializer_of(StoredCheck), load=_checks)


def _where(asked: Mapping[str, Any]) -> dict[str, Any]:
    """Conditions of a list of what has a release and a hardware class. Raises Invalid for what the catalog lacks."""
    require_known({name: asked[name] for name in ("platform", "hardware") if name in asked})
    columns = {"platform": "release__platform__slug", "hardware": "hardware_class__slug"}
    found: dict[str, Any] = {column: asked[name] for name, column in columns.items() if name in asked}
    if "release" in asked:
        found["release__in"] = catalog_queries.releases_named(platform=asked.get("platform"), version=asked["release"])
        if not found["release__in"]:
            problem = f"there is no release {asked['release'][:80]!r}"
            raise Invalid([FieldProblem("release", problem, "choose one of /api/v1/releases/")])
    return found


def _checks(page: Sequence[CheckedRelease]) -> list[StoredCheck]:
    """In a constant number of queries."""
    return stored_checks.load(CheckedRelease.objects.filter(pk__in=[row.pk for row in page]).order_by("-id"))


class SignOffs(APIView):
    @extend_schema(
        operation_id="list_sign_offs",
        parameters=[SignOffParameters],
        responses=listing(SignOffSerializer, name="SignOff"),
    )
    def get(self, request: Request) -> Response:
        """List sign-offs, newest first, including withdrawn ones."""
        asked = SignOffParameters.read(request)
        rows = SignOff.objects.select_related("release__platform", "hardware_class", "by", "withdrawn_by")
        rows = rows.filter(**_where(asked))
        return page_of(self, request, rows, key="-id", serializer=SignOffSerializer)

    @extend_schema(operation_id="sign_off", request=NewSignOff, responses={201: SignOffSerializer})
    def post(self, request: Request) -> Response:
        """Sign off a release on a hardware class in your name, with its current comparison."""
        stated = NewSignOff(data=request.data)
        stated.is_valid(raise_exception=True)
        wanted = stated.validated_data
        release, hardware = _place(wanted)
        rows = stored_checks.load(CheckedRelease.objects.filter(release=release, hardware_class=hardware))
        if not rows:
            problem = f"{release} has not been compared on {hardware.name}"
            raise Invalid([FieldProblem("release", problem, "it is once runs of it are sealed")])
        try:
            made = sign_offs.sign_off(
                release=release,
                hardware_class=hardware,
                by=writer(request),
                note=wanted["note"],
                seen=stored_checks.seen(rows[0].check),
                looked_at=wanted.get("fingerprint", ""),
            )
        except sign_offs.ComparisonChanged as error:
            raise changed_since(error) from error
        return Response(SignOffSerializer(made).data, status=201)


class OneSignOff(APIView):
    @extend_schema(operation_id="withdraw_sign_off", responses={204: None})
    def delete(self, request: Request, sign_off_id: int) -> Response:
        """Withdraw a sign-off. The record is kept, with who withdrew it and when."""
        NoParameters.read(request)
        if not SignOff.objects.filter(pk=sign_off_id).exists():
            raise Http404(f"There is no sign-off {sign_off_id}.")
        sign_offs.withdraw(sign_off=sign_off_id, by=writer(request))
        return Response(status=204)


def _place(wanted: dict[str, Any]) -> tuple[Release, HardwareClass]:
    platform = Platform.objects.filter(slug=wanted["platform"]).first()
    hardware = HardwareClass.objects.filter(slug=wanted["hardware"]).first()
    release, problems = named(platform, wanted["release"], field="release") if platform else (None, [])
    if platform is None:
        problems.append(FieldProblem("platform", f"there is no platform {wanted['platform'][:80]!r}"))
    if hardware is None:
        problems.append(FieldProblem("hardware", f"there is no {wanted['hardware']!r}"))
    if release is None or hardware is None:
        raise Invalid(problems)
    return release, hardware
