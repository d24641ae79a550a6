"""Interface of this app for other apps. detection needs no database, models has the tables; the rest is internal."""

from apps.regressions import early_stop, look, synthetic, thresholds
from apps.regressions.findings import activity, filters, missing_results, review
from apps.regressions.findings import queries as finding_queries
from apps.regressions.findings.evidence import evidence
from apps.regressions.findings.evidence.causes import Cause
from apps.regressions.findings.evidence.evidence import Evidence, SideRun
from apps.regressions.findings.filters import FindingFilter
from apps.regressions.findings.reconcile import CLOSED, OPEN
from apps.regressions.findings.repeat import RepeatPlan
from apps.regressions.findings.review import FindingChanged, NoSuchFinding
from apps.regressions.findings.titles import interval as change_interval
from apps.regressions.findings.titles import percent, share
from apps.regressions.findings.titles import size as change_size
from apps.regressions.findings.values import ChangeRow, FindingDetail, FindingRow, NoteRow
from apps.regressions.releases import check as release_check
from apps.regressions.releases import markdown, sign_offs, stored_checks
from apps.regressions.releases.check import check as check_release
from apps.regressions.releases.pairs import on_hardware
from apps.regressions.releases.stored_checks import StoredCheck, TrendStep
from apps.regressions.releases.values import (
    LATENCY_TOLERANCE,
    TOLERANCE,
    CheckRow,
    ReleaseCheck,
    Result,
    RowVerdict,
    is_coarse,
    is_relevant,
    p_words,
)
from apps.regressions.releases.verdicts import verdict as row_verdict
from apps.regressions.session_plan import LEAST_DIFFERENCE, MOST_DIFFERENCE, POWERS, SessionPlan, session_plan
from apps.regressions.thresholds import StoredThreshold
from apps.regressions.trends import board as trend_board
from apps.regressions.trends import board_columns as trend_columns
from apps.regressions.trends import follow as trend_follow
from apps.regressions.trends import queries as trend_queries
from apps.regressions.trends.board import Board, BoardColumn, BoardFilter, BoardGroup, BoardRow
from apps.regressions.trends.board_cells import BoardCell
from apps.regressions.trends.board_findings import BoardFinding
from apps.regressions.trends.patterns import (
    TrendBurst,
    TrendDrift,
    TrendEffect,
    TrendPatterns,
    TrendSeason,
    TrendSessions,
)
from apps.regressions.trends.queries import (
    SIGHTS,
    TrendChange,
    TrendDetail,
    TrendFilter,
    TrendRow,
    Tried,
    TriedSeries,
)
from apps.regressions.trends.series import SeriesRun
from apps.regressions.trends.variation import variations

__all__ = [
    "CLOSED",
    "LATENCY_TOLERANCE",
    "LEAST_DIFFERENCE",
    "MOST_DIFFERENCE",
    "OPEN",
    "POWERS",
    "SIGHTS",
    "TOLERANCE",
    "Board",
    "BoardCell",
    "BoardColumn",
    "BoardFilter",
    "BoardFinding",
    "BoardGroup",
    "BoardRow",
    "Cause",
    "ChangeRow",
    "CheckRow",
    "Evidence",
    "FindingChanged",
    "FindingDetail",
    "FindingFilter",
    "FindingRow",
    "NoSuchFinding",
    "NoteRow",
    "ReleaseCheck",
    "RepeatPlan",
    "Result",
    "RowVerdict",
    "SeriesRun",
    "SessionPlan",
    "SideRun",
    "StoredCheck",
    "StoredThreshold",
    "TrendBurst",
    "TrendChange",
    "TrendDetail",
    "TrendDrift",
    "TrendEffect",
    "TrendFilter",
    "TrendPatterns",
    "TrendRow",
    "TrendSeason",
    "TrendSessions",
    "TrendStep",
    "Tried",
    "TriedSeries",
    "activity",
    "change_interval",
    "change_size",
    "check_release",
    "early_stop",
    "evidence",
    "filters",
    "finding_queries",
    "is_coarse",
    "is_relevant",
    "look",
    "markdown",
    "missing_results",
    "on_hardware",
    "p_words",
    "percent",
    "release_check",
    "review",
    "row_verdict",
    "session_plan",
    "share",
    "sign_offs",
    "stored_checks",
    "synthetic",
    "thresholds",
    "trend_board",
    "trend_columns",
    "trend_follow",
    "trend_queries",
    "variations",
]
