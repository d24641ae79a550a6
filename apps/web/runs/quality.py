"""The quality of a run on its page: the checklist with its evidence, and excluding the run from comparisons."""

from collections.abc import Sequence
from dataclasses import dataclass

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.urls import reverse
from django.views.decorators.http import require_POST

from apps.accounts.current_user import writer
from apps.core.problems import Invalid
from apps.runs.api import CheckDetail, ExclusionDetail, RunDetail, exclusion
from apps.runs.models import Run
from apps.runs.pure import CANNOT_TELL, FAILED, PASSED
from apps.web.accounts.guards import writers_only

# Failed checks first, then undecided ones: readers look for problems.
ORDER = (FAILED, CANNOT_TELL, PASSED)
MOST_NAMED = 2
WORDS = {PASSED: "passed", FAILED: "failed", CANNOT_TELL: "cannot tell"}


@dataclass(frozen=True)
class Quality:
    """`summary`: number of checks by status, as "1 failed, 7 passed, 1 cannot tell"; empty: none.

    `now`: the current exclusion; `past`: ended ones.
    """

    checks: Sequence[CheckDetail]
    summary: str
    now: ExclusionDetail | None
    past: Sequence[ExclusionDetail]

    @property
    def failed(self) -> int:
        return sum(check.status == FAILED for check in self.checks)

    @property
    def brief(self) -> str:
        """Beside the outcome: "checks: 10 passed, 2 cannot tell", "checks: 1 failed: steady state; 9 passed"; empty: no
        check was made yet."""
        names = [check.title for check in self.checks if check.status == FAILED]
        if not names:
            return f"checks: {self.summary}" if self.summary else ""
        more = f" and {len(names) - MOST_NAMED} more" if len(names) > MOST_NAMED else ""
        failed, _, rest = self.summary.partition(", ")
        return f"checks: {failed}: {', '.join(names[:MOST_NAMED])}{more}" + f"; {rest}" * bool(rest)


def shown(run: RunDetail) -> Quality:
    checks = sorted(run.checks, key=lambda check: ORDER.index(check.status))
    counts = {status: sum(check.status == status for check in checks) for status in (FAILED, PASSED, CANNOT_TELL)}
    return Quality(
        checks=checks,
        summary=", ".join(f"{count} {WORDS[status]}" for status, count in counts.items() if count),
        now=next((one for one in run.exclusions if one.ended_at is None), None),
        past=[one for one in run.exclusions if one.ended_at is not None],
    )


@require_POST
@writers_only
def exclude(request: HttpRequest, run_id: int) -> HttpResponse:
    run = get_object_or_404(Run, pk=run_id)
    try:
        done = exclusion.exclude(run=run, reason=request.POST.get("reason", ""), by=writer(request))
    except Invalid as error:
        messages.error(request, f"Nothing was changed: {error}.")
    else:
        messages.info(
            request,
            f"Run {run_id} is excluded from all comparisons."
            if done
            else f"Run {run_id} is already excluded, for the reason below.",
        )
    return _back(run_id)


@require_POST
@writers_only
def count_again(request: HttpRequest, run_id: int) -> HttpResponse:
    run = get_object_or_404(Run, pk=run_id)
    done = exclusion.count_again(run=run, by=writer(request))
    messages.info(request, f"Run {run_id} {'counts again' if done else 'was not excluded'}.")
    return _back(run_id)


def _back(run_id: int) -> HttpResponse:
    return redirect(f"{reverse('web:run', args=[run_id])}?tab=checks#tabs")
