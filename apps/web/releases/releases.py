"""Releases: comparison of each with the previous one on each hardware class, and sign-offs."""

from collections.abc import Callable
from typing import Any
from urllib.parse import urlencode

from django.contrib import messages
from django.db.models import Exists, OuterRef
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.views.decorators.http import require_POST, require_safe

from apps.accounts.current_user import may_write, writer
from apps.accounts.models import User
from apps.catalog.api import queries
from apps.catalog.models import HardwareClass, Platform, Release, System
from apps.comparison.api import UnknownSide
from apps.core.problems import FieldProblem, Invalid
from apps.core.query import Address
from apps.regressions.api import ReleaseCheck, Result, StoredCheck, markdown, sign_offs, stored_checks
from apps.regressions.api import check_release as compare
from apps.regressions.models import CheckedRelease, Pending, SignOff, Trend
from apps.runs.models import Run
from apps.web.accounts.guards import writers_only
from apps.web.components.lists import this_page
from apps.web.components.pages import refused_file, render_page, status_of
from apps.web.releases import badges, exports
from apps.web.releases.sheet import (
    RESULTS,
    SeriesKey,
    Times,
    counts,
    overall,
    result_words,
    seldom,
    series_key,
    sheet,
    to_repeat,
    worst_first,
)

# Releases × hardware classes per page.
PAGE = 60
MOST_WAITING = 5
# What distinguishes the trends of one platform on one hardware class.
SERIES = ("settings_hash", "workload", "load_level", "metric")
BADGE_SECONDS = 300
BADGES = {Result.FINE: "better", Result.REGRESSION: "worse", Result.CANNOT_TELL: "unknown"}


@require_safe
def show_all(request: HttpRequest) -> HttpResponse:
    platforms = list(Platform.objects.filter(releases__checks__isnull=False).distinct().values_list("slug", "name"))
    checked = HardwareClass.objects.filter(pk__in=CheckedRelease.objects.values("hardware_class"))
    hardware = list(checked.values_list("slug", "name"))
    given = Address(request.GET, "platform", "hardware")
    asked = {
        "platform": given.choice("platform", dict(platforms)),
        "hardware": given.choice("hardware", dict(hardware)),
    }
    try:
        given.check()
    except Invalid as error:
        context: dict[str, Any] = {
            "problems": error.errors,
            "asked": asked,
            "platforms": platforms,
            "hardware": hardware,
        }
        return render_page(request, "web/releases/releases.html", context, status=400)
    found = CheckedRelease.objects.order_by("-checked_at", "-id")
    found = found.filter(release__platform__slug=asked["platform"]) if asked["platform"] else found
    found = found.filter(hardware_class__slug=asked["hardware"]) if asked["hardware"] else found
    ids = list(found.values_list("pk", flat=True)[: PAGE + 1])
    rows = stored_checks.load(CheckedRelease.objects.filter(pk__in=ids[:PAGE]).order_by("-checked_at", "-id"))
    rows.sort(key=lambda row: worst_first(row.check))
    signed = sign_offs.of_releases((row.check.release_id, row.check.hardware_id, row.fingerprint) for row in rows)
    context = {
        "rows": [_listed(row, signed.get((row.check.release_id, row.check.hardware_id), [])) for row in rows],
        "answer": overall([row.check for row in rows]),
        "has_more": len(ids) > PAGE,
        "waiting": _waiting(),
        "asked": asked,
        "platforms": platforms,
        "hardware": hardware,
    }
    return render_page(request, "web/releases/releases.html", context)


def _waiting() -> list[str]:
    """Releases with runs that were never compared."""
    known = CheckedRelease.objects.filter(release=OuterRef("release"), hardware_class=OuterRef("hardware_class"))
    found = Pending.objects.filter(~Exists(known)).select_related("release__platform", "hardware_class")
    return [f"{each.release} on {each.hardware_class.name}" for each in found.order_by("since", "pk")[:MOST_WAITING]]


def _listed(row: StoredCheck, signed: list[sign_offs.SignedOff]) -> dict[str, Any]:
    mark, sign, words = result_words(row.check)
    standing = [each for each in signed if each.stands]
    return {
        "kept": row,
        "check": row.check,
        "url": address(row.check),
        **{"mark": mark, "sign": sign, "words": words},
        "counts": counts(row.check),
        "seldom": seldom(row.check),
        "signed": [each for each in standing if each.is_current],
        "signed_before": [each for each in standing if not each.is_current],
    }


def address(check: ReleaseCheck, *, with_baseline: bool = False) -> str:
    """`with_baseline`: of a comparison with a baseline that was chosen."""
    stated = {"hardware": check.hardware} | ({"baseline": check.baseline} if with_baseline else {})
    return f"{reverse('web:release', args=[check.platform, check.release])}?{urlencode(stated)}"


@require_safe
def show(request: HttpRequest, platform: str, version: str) -> HttpResponse:
    release = _release(platform, version)
    if release.version != version:
        full = reverse("web:release", args=[platform, release.version])
        return redirect(f"{full}?{request.GET.urlencode()}" if request.GET else full)
    known = stored_checks.load(CheckedRelease.objects.filter(release=release).order_by("hardware_class__name"))
    try:
        _check_address(request)
        row, check = _asked(request, release, known)
    except Invalid as error:
        context: dict[str, Any] = {"release": release, "problems": error.errors}
        status = status_of(error)
        return render_page(request, "web/releases/release.html", context, status=status)
    link = getattr(request, "shared_link", None)
    others = [] if link and "hardware" in link.pinned else known
    context = {
        "release": release,
        "others": [(each.check, address(each.check), result_words(each.check)) for each in others],
    }
    if check is not None:
        context |= _shown(request, release, row, check)
    return render_page(request, "web/releases/release.html", context)


def _check_address(request: HttpRequest) -> None:
    """Raises Invalid for parameters that the page of a release does not have."""
    given = Address(request.GET, "hardware", "baseline", "rows")
    given.choice("rows", ("all",))
    given.check()


def _shown(request: HttpRequest, release: Release, row: StoredCheck | None, check: ReleaseCheck) -> dict[str, Any]:
    """`row` None: compared for this page only, so it cannot be signed off."""
    where = release.pk, check.hardware_id
    print_ = row.fingerprint if row else ""
    signed = sign_offs.of_releases([(*where, print_)]).get(where, [])
    mine = request.user.get_username() if isinstance(request.user, User) else ""
    query = request.GET.urlencode()
    page = _link(request, row, check)
    badge = f"{reverse('web:release-badge', args=[check.platform, check.release])}?hardware={check.hardware}"
    files = {
        ending: f"{reverse('web:release-export', args=[check.platform, check.release, ending])}?{query}"
        for ending in ("md", "csv")
    }
    return {
        "sheet": sheet(check, _times(to_repeat(check)), _trends(check), stored_checks.steps(check)),
        "check": check,
        "kept": row,
        "all": request.GET.get("rows") == "all",
        "toggle": this_page(request, rows="" if request.GET.get("rows") == "all" else "all"),
        "signed": signed,
        "signers": [each.by for each in signed if each.stands and (each.is_current or not row)],
        "fingerprint": print_,
        "has_signed": any(each.by == mine and each.stands and each.is_current for each in signed),
        "may_write": may_write(request),
        "baselines": _baselines(release),
        "markdown": markdown.markdown(check, link=page, finding=_finding(request)),
        "markdown_url": files["md"],
        "csv_url": files["csv"],
        "json_url": f"{reverse('api:release-checks')}?{_json_query(check)}",
        "badge_url": badge,
        "badge_markdown": f"[![{check.platform_name} {check.release}]({request.build_absolute_uri(badge)})]({page})",
    }


def _link(request: HttpRequest, row: StoredCheck | None, check: ReleaseCheck) -> str:
    """Absolute address of the page with this comparison."""
    is_chosen = row is None and bool(request.GET.get("baseline"))
    return request.build_absolute_uri(address(check, with_baseline=is_chosen))


def _times(runs: list[int]) -> dict[int, Times]:
    found = Run.objects.filter(pk__in=runs).values_list("pk", "warmup", "duration") if runs else ()
    return {pk: (warmup, duration) for pk, warmup, duration in found}


def _trends(check: ReleaseCheck) -> dict[SeriesKey, int]:
    """Ids of the series that the rows' runs of the release are part of. Two queries."""
    systems = {row.system_id for row in check.rows if row.system_id is not None}
    settings = dict(System.objects.filter(pk__in=systems).values_list("pk", "settings_hash"))
    there = Trend.objects.filter(platform=check.platform_id, hardware_class=check.hardware_id)
    known = there.filter(workload__in={row.workload_id for row in check.rows})
    ids = {tuple(key): pk for pk, *key in known.order_by().values_list("pk", *SERIES)}
    found = {}
    for key in map(series_key, check.rows):
        system, *rest = key
        if (pk := ids.get((settings.get(system or 0, ""), *rest))) is not None:
            found[key] = pk
    return found


def _finding(request: HttpRequest) -> Callable[[int], str]:
    return lambda finding: request.build_absolute_uri(reverse("web:finding", args=[finding]))


def _json_query(check: ReleaseCheck) -> str:
    asked = {"platform": check.platform, "release": check.release, "hardware": check.hardware}
    return urlencode(asked | ({"baseline": check.baseline} if check.baseline else {}))


def _text(stated: str) -> str:
    """Strips NUL, which database columns cannot store."""
    return stated.replace("\0", "")


def _release(platform: str, version: str) -> Release:
    found = queries.releases_named(platform=platform, version=version)
    if len(found) == 1:
        return found[0]
    if not found:
        raise Http404(f"there is no release {version!r} of {platform!r}; the Catalog page lists them all")
    raise Http404(f"{len(found)} releases begin with {version!r}: {', '.join(each.version for each in found[:10])}")


def _baselines(release: Release) -> list[str]:
    """Versions that may serve as baseline, newest first."""
    others = Release.objects.filter(platform=release.platform_id).exclude(pk=release.pk)
    return list(others.order_by("-version_key", "-version").values_list("version", flat=True)[:50])


def _asked(
    request: HttpRequest, release: Release, known: list[StoredCheck]
) -> tuple[StoredCheck | None, ReleaseCheck | None]:
    """The requested comparison: the stored one, or a new one for another baseline or hardware class.

    (None, None): nothing was compared. Raises Invalid, and UnknownSide.
    """
    slug, version = request.GET.get("hardware", ""), request.GET.get("baseline", "")
    row = next((each for each in known if slug in ("", each.check.hardware)), None)
    if row is not None and version in ("", row.check.baseline):
        return row, row.check
    slug = slug or (row.check.hardware if row else "")
    if not slug:
        return None, None
    hardware = HardwareClass.objects.filter(slug=_text(slug)).first()
    if hardware is None:
        problem = f"there is no hardware class {slug[:80]!r}"
        raise UnknownSide([FieldProblem("hardware", problem, "the Catalog page lists them all")])
    return None, compare(release, hardware, _baseline(release, version) if version else None)


def _baseline(release: Release, version: str) -> Release:
    found = queries.releases_named(platform=release.platform.slug, version=version)
    if len(found) != 1:
        problem = f"{release.platform.name} has {len(found) or 'no'} releases {version[:80]!r}"
        raise UnknownSide([FieldProblem("baseline", problem, "the Catalog page lists them all")])
    return found[0]


@require_safe
def export(request: HttpRequest, platform: str, version: str, ending: str) -> HttpResponse:
    release = _release(platform, version)
    known = stored_checks.load(CheckedRelease.objects.filter(release=release).order_by("hardware_class__name"))
    try:
        row, check = _asked(request, release, known)
    except Invalid as error:
        return refused_file(error)
    if check is None:
        raise Http404(f"{release} has not been compared yet; name a hardware class to compare it now")
    if ending == "md":
        link = _link(request, row, check)
        text, media_type = markdown.markdown(check, link=link, finding=_finding(request)), "text/markdown"
    else:
        text, media_type = exports.comma_separated(check), "text/csv"
    headers = {"Content-Disposition": f'attachment; filename="release.{ending}"'}
    return HttpResponse(text, content_type=f"{media_type}; charset=utf-8", headers=headers)


@require_POST
@writers_only
def sign_off(request: HttpRequest, platform: str, version: str) -> HttpResponse:
    """`hardware`, `note`, and `seen`: the fingerprint of the comparison that was on the page."""
    release = _release(platform, version)
    found = CheckedRelease.objects.filter(release=release, hardware_class__slug=_text(request.POST.get("hardware", "")))
    rows = stored_checks.load(found)
    if not rows:
        raise Http404(f"{release} has not been compared on that hardware")
    check = rows[0].check
    try:
        sign_offs.sign_off(
            release=release,
            hardware_class=HardwareClass.objects.get(pk=check.hardware_id),
            by=writer(request),
            note=_text(request.POST.get("note", "")),
            seen=stored_checks.seen(check),
            looked_at=request.POST.get("seen", "") or "none",
        )
    except Invalid as error:
        for problem in error.errors:
            messages.error(request, problem.sentence())
    else:
        messages.success(request, f"You signed off {check.platform_name} {check.release} on {check.hardware_name}.")
    return redirect(f"{address(check)}#sign-off")


@require_POST
@writers_only
def withdraw(request: HttpRequest, sign_off_id: int) -> HttpResponse:
    row = SignOff.objects.select_related("release__platform", "hardware_class").filter(pk=sign_off_id).first()
    if row is None:
        raise Http404(f"there is no sign-off {sign_off_id}")
    ended = sign_offs.withdraw(sign_off=sign_off_id, by=writer(request))
    messages.info(request, "Sign-off withdrawn." if ended else "Already withdrawn.")
    back = reverse("web:release", args=[row.release.platform.slug, row.release.version])
    return redirect(f"{back}?{urlencode({'hardware': row.hardware_class.slug})}#sign-off")


@require_safe
def badge(request: HttpRequest, platform: str, version: str) -> HttpResponse:
    """Badge of one hardware class, or the worst of all. Unknown releases get a badge with this text."""
    named = queries.releases_named(platform=platform, version=version)
    release = named[0] if len(named) == 1 else None
    label = f"{release.platform.name} {version}" if release else f"{platform} {version}"[:60]
    found = CheckedRelease.objects.filter(release=release) if release else CheckedRelease.objects.none()
    if hardware := request.GET.get("hardware", ""):
        found = found.filter(hardware_class__slug=_text(hardware))
    checks = [row.check for row in stored_checks.load(found)]
    result = stored_checks.worst(check.result for check in checks)
    if result is None:
        picture = draw_unknown(
            label, "not compared yet" if release else f"{len(named)} releases" if named else "no such release"
        )
        return _picture(picture, status=200 if release else 404)
    worse = sum(row.counts_against for check in checks for row in check.rows)
    words = f"{worse} worse" if result is Result.REGRESSION else RESULTS[result][2]
    return _picture(badges.draw(label, words, BADGES[result]))


def draw_unknown(label: str, words: str) -> str:
    return badges.draw(label, words, "none")


def _picture(text: str, *, status: int = 200) -> HttpResponse:
    headers = {"Cache-Control": f"max-age={BADGE_SECONDS}"}
    return HttpResponse(text, status=status, content_type="image/svg+xml", headers=headers)
