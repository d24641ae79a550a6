"""Interface of this app for other apps. pure has what needs no database, models the tables; the rest is internal."""

from apps.comparison import compare
from apps.comparison.agreement import claims
from apps.comparison.agreement.claims import (
    CANNOT_TELL,
    CONTESTED,
    SideClaim,
    ToolAgreement,
    WorkloadResult,
    tool_agreement,
)
from apps.comparison.agreement.claims import SECTION as AGREEMENT_SECTION
from apps.comparison.agreement.claims import WITHHELD as CLAIM_WITHHELD
from apps.comparison.agreement.published_evidence import ABOUT, PublishedResult
from apps.comparison.comparability import acknowledgements, memory
from apps.comparison.comparability.facts import lasting_facts
from apps.comparison.comparability.memory import RunSpread, SideMemory
from apps.comparison.early_stop import until_decided
from apps.comparison.failovers.results import load_failovers
from apps.comparison.failovers.values import (
    FAULTS,
    FailoverFilter,
    FailoverResults,
    FailoverTrial,
    FaultVerdict,
    TrialGroup,
)
from apps.comparison.failovers.verdicts import was_interrupted
from apps.comparison.schema_changes.results import ChangeFilter, schema_changes
from apps.comparison.sections import (
    all_metrics,
    cost,
    latency,
    load_level_data,
    percentiles,
    steadiness,
    table_growth,
    time_to_finish,
    timelines,
    verdicts,
    work,
)
from apps.comparison.sections.all_metrics import SECTION as ALL_METRICS_SECTION
from apps.comparison.sections.all_metrics import Everything, Measured, everything
from apps.comparison.sections.cost import HOURS_A_MONTH, ComparedCost, OtherSize, SideCost
from apps.comparison.sections.cost import SECTION as COST_SECTION
from apps.comparison.sections.latency import SECTION as LATENCY_SECTION
from apps.comparison.sections.latency import SideLatency
from apps.comparison.sections.load_level_data import Ramps, throughput_metric
from apps.comparison.sections.percentiles import SECTION as PERCENTILES_SECTION
from apps.comparison.sections.percentiles import ComparedPercentiles
from apps.comparison.sections.steadiness import DIPS, VARIATION, WORST, ComparedSteadiness, RunSteadiness
from apps.comparison.sections.steadiness import SECTION as STEADINESS_SECTION
from apps.comparison.sections.table_growth import Growing, RunGrowth
from apps.comparison.sections.time_to_finish import Finishing
from apps.comparison.sections.timelines import ClockEvent, RunTimeline, newest
from apps.comparison.sections.work import PER, ComparedWork, RunsWork, work_of_runs
from apps.comparison.sections.work import SECTION as WORK_SECTION
from apps.comparison.selection import baselines, choices
from apps.comparison.selection.baselines import Pin
from apps.comparison.selection.data import sessions_of, variables_of
from apps.comparison.selection.session_noise import noisiest, session_noise
from apps.comparison.selection.sessions import Occurrence
from apps.comparison.selection.sessions import numbered as session_numbers
from apps.comparison.selection.sides import (
    FEWEST_SIDES,
    MOST_SIDES,
    Chosen,
    ChosenSide,
    UnknownSide,
    check_systems,
    system_slug,
)
from apps.comparison.tables import dips_and_work, matrix
from apps.comparison.tables.matrix import FEWEST_SIDES as FEWEST_MATRIX_SIDES
from apps.comparison.tables.matrix import LATENCY, PRIMARY, Matrix, MatrixRow, MatrixSide, compare_systems
from apps.comparison.tables.matrix import MOST_SIDES as MOST_MATRIX_SIDES
from apps.comparison.tables.scorecard import FAMILIES as SCORECARD_FAMILIES
from apps.comparison.tables.scorecard import Family, ScorecardCell, ScorecardRow, load_scorecard

__all__ = [
    "ABOUT",
    "AGREEMENT_SECTION",
    "ALL_METRICS_SECTION",
    "CANNOT_TELL",
    "CLAIM_WITHHELD",
    "CONTESTED",
    "COST_SECTION",
    "DIPS",
    "FAULTS",
    "FEWEST_MATRIX_SIDES",
    "FEWEST_SIDES",
    "HOURS_A_MONTH",
    "LATENCY",
    "LATENCY_SECTION",
    "MOST_MATRIX_SIDES",
    "MOST_SIDES",
    "PER",
    "PERCENTILES_SECTION",
    "PRIMARY",
    "SCORECARD_FAMILIES",
    "STEADINESS_SECTION",
    "VARIATION",
    "WORK_SECTION",
    "WORST",
    "ChangeFilter",
    "Chosen",
    "ChosenSide",
    "ClockEvent",
    "ComparedCost",
    "ComparedPercentiles",
    "ComparedSteadiness",
    "ComparedWork",
    "Everything",
    "FailoverFilter",
    "FailoverResults",
    "FailoverTrial",
    "Family",
    "FaultVerdict",
    "Finishing",
    "Growing",
    "Matrix",
    "MatrixRow",
    "MatrixSide",
    "Measured",
    "Occurrence",
    "OtherSize",
    "Pin",
    "PublishedResult",
    "Ramps",
    "RunGrowth",
    "RunSpread",
    "RunSteadiness",
    "RunTimeline",
    "RunsWork",
    "ScorecardCell",
    "ScorecardRow",
    "SideClaim",
    "SideCost",
    "SideLatency",
    "SideMemory",
    "ToolAgreement",
    "TrialGroup",
    "UnknownSide",
    "WorkloadResult",
    "acknowledgements",
    "all_metrics",
    "baselines",
    "check_systems",
    "choices",
    "claims",
    "compare",
    "compare_systems",
    "cost",
    "dips_and_work",
    "everything",
    "lasting_facts",
    "latency",
    "load_failovers",
    "load_level_data",
    "load_scorecard",
    "matrix",
    "memory",
    "newest",
    "noisiest",
    "percentiles",
    "schema_changes",
    "session_noise",
    "session_numbers",
    "sessions_of",
    "steadiness",
    "system_slug",
    "table_growth",
    "throughput_metric",
    "time_to_finish",
    "timelines",
    "tool_agreement",
    "until_decided",
    "variables_of",
    "verdicts",
    "was_interrupted",
    "work",
    "work_of_runs",
]
