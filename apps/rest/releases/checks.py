"""A release compared with an earlier one: the release gate, as JSON and as Markdown for a pull request."""

from collections.abc import Callable
from typing import Any

from django.http import HttpResponse
from django.http.response import HttpResponseBase
from django.urls import reverse
from django.utils.http import urlencode
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from apps.catalog.api import queries as catalog_queries
from apps.catalog.models import HardwareClass, Platform, Release
from apps.core.problems import FieldProblem, Invalid
from apps.regressions.api import TOLERANCE, CheckRow, ReleaseCheck, is_coarse, markdown, on_hardware, release_check
from apps.rest.framework.derive import Answer
from apps.rest.framework.formats import ByQuality, Json, is_json
from apps.rest.framework.lists import Parameters
from apps.rest.framework.strict import ChoiceField

MOST_NAMED = 10


class Markdown(Json):
    media_type = "text/markdown"
    format = "md"


class ReleaseCheckParameters(Parameters):
    platform = serializers.CharField(max_length=40, help_text="slug of a platform")
    release = serializers.CharField(max_length=80, help_text="version, or how the version of one release begins")
    baseline = serializers.CharField(
        required=False,
        max_length=80,
        help_text="version as for `release`; else the newest before it that has runs on this hardware",
    )
    hardware = serializers.CharField(
        required=False, max_length=80, help_text="slug of a hardware class; else the only one on which it has runs"
    )
    tolerance = serializers.FloatField(
        required=False,
        min_value=0.001,
        max_value=1,
        help_text=f"margin of rows for which no threshold sets one: share by which a row may be worse, as its interval "
        f"leaves open, and still pass ({TOLERANCE:g})",
    )
    allow_missing = serializers.BooleanField(
        required=False, default=False, help_text="rows that the release lacks keep `result` from no answer"
    )
    format = ChoiceField(choices=[Json.format, Markdown.format], required=False, help_text="goes before Accept")


class CheckRowSerializer(Answer):
    of = CheckRow
    is_coarse = serializers.SerializerMethodField(
        help_text="neither worse nor better, and may be worse by more than its margin"
    )

    def get_is_coarse(self, row: CheckRow) -> bool:
        return is_coarse(row, self.context["tolerance"])


class ReleaseCheckSerializer(Answer):
    """Comparison of a release with its baseline; `result` is for a gate.

    "regression": a row is worse and not accepted. "cannot tell": rows are missing, without verdict, or may be worse by
    more than their margin. Else "fine".
    """

    of = ReleaseCheck
    address = serializers.SerializerMethodField(help_text="of its page")

    def get_address(self, _check: ReleaseCheck) -> str:
        return str(self.context["address"])


class ReleaseChecks(APIView):
    renderer_classes = [Json, Markdown]
    content_negotiation_class = ByQuality

    @extend_schema(
        operation_id="check_release",
        parameters=[ReleaseCheckParameters],
        responses={
            (200, Json.media_type): ReleaseCheckSerializer,
            (200, Markdown.media_type): OpenApiTypes.STR,
        },
    )
    def get(self, request: Request) -> HttpResponseBase:
        """Compare a release with the previous one and decide whether it may pass.

        Covers every workload and load level in its primary metric and percentiles of latency. Computed now, with the
        current acceptances.
        """
        asked = ReleaseCheckParameters.read(request)
        release, hardware, baseline = _chosen(asked)
        check = release_check.check(
            release,
            hardware,
            baseline,
            tolerance=asked.get("tolerance", TOLERANCE),
            allow_missing=asked["allow_missing"],
        )
        address = _address(request, check, baseline)
        if is_json(request):
            context = {"tolerance": check.tolerance, "address": address}
            return Response(ReleaseCheckSerializer(check, context=context).data)
        text = markdown.markdown(check, link=address, finding=_finding(request))
        return HttpResponse(text, content_type=f"{Markdown.media_type}; charset=utf-8")


def _address(request: Request, check: ReleaseCheck, baseline: Release | None) -> str:
    """`baseline`: as it was chosen."""
    path = reverse("web:release", args=[check.platform, check.release])
    stated = {"hardware": check.hardware} | ({"baseline": baseline.version} if baseline else {})
    return request.build_absolute_uri(f"{path}?{urlencode(stated)}")


def _finding(request: Request) -> Callable[[int], str]:
    return lambda finding: request.build_absolute_uri(reverse("web:finding", args=[finding]))


def _chosen(asked: dict[str, Any]) -> tuple[Release, HardwareClass, Release | None]:
    """Raises Invalid with every parameter that matches nothing, or several releases."""
    platform = Platform.objects.filter(slug=asked["platform"]).first()
    if platform is None:
        remedy = _one_of(Platform.objects.values_list("slug", flat=True))
        raise Invalid([FieldProblem("platform", f"there is no platform {asked['platform']!r}", remedy)])
    errors = []
    found: dict[str, Release | None] = {"release": None, "baseline": None}
    for name in found.keys() & asked.keys():
        found[name], trouble = named(platform, asked[name], field=name)
        errors += trouble
    release, baseline = found["release"], found["baseline"]
    hardware, trouble = _hardware(asked.get("hardware"), release)
    if release is None or hardware is None or errors:
        raise Invalid([*errors, *trouble])
    return release, hardware, baseline


def named(platform: Platform, version: str, *, field: str) -> tuple[Release | None, list[FieldProblem]]:
    """The one release of that version, or that begins with it; otherwise what is wrong with `field`."""
    found = catalog_queries.releases_named(platform=platform.slug, version=version)
    if len(found) > 1:
        remedy = _one_of([release.version for release in found])
        return None, [FieldProblem(field, f"{len(found)} releases begin with {version!r}", remedy)]
    if not found:
        known = platform.releases.order_by("-version_key", "-version").values_list("version", flat=True)
        return None, [FieldProblem(field, f"{platform.name} has no release {version[:80]!r}", _one_of(known))]
    return found[0], []


def _hardware(slug: str | None, release: Release | None) -> tuple[HardwareClass | None, list[FieldProblem]]:
    if slug is not None:
        found = HardwareClass.objects.filter(slug=slug).first()
        remedy = _one_of(HardwareClass.objects.values_list("slug", flat=True))
        return found, [] if found else [FieldProblem("hardware", f"there is no hardware class {slug!r}", remedy)]
    if release is None:
        return None, []
    on = on_hardware(release)
    if len(on) == 1:
        return on[0], []
    if not on:
        return None, [FieldProblem("release", f"{release} has no counted run yet", "measure it first")]
    problem = f"{release} has counted runs on {len(on)} hardware classes"
    return None, [FieldProblem("hardware", problem, _one_of([each.slug for each in on]))]


def _one_of(names: Any) -> str:
    listed = list(names)
    more = f" and {len(listed) - MOST_NAMED} more" if len(listed) > MOST_NAMED else ""
    return f"there are: {', '.join(listed[:MOST_NAMED])}{more}" if listed else "there is none yet"
