"""Interface of this app for other apps. pure has what needs no database, models the tables; the rest is internal."""

from apps.comparison import compare, matrix
from apps.comparison.agreement import claims
from apps.comparison.agreement.claims import CANNOT_TELL, CONTESTED, Corroboration, SideClaim, Witness, corroborate
from apps.comparison.agreement.claims import READING as AGREEMENT_SECTION
from apps.comparison.agreement.claims import WITHHELD as CLAIM_WITHHELD
from apps.comparison.agreement.published_evidence import ABOUT, StatedWitness
from apps.comparison.comparability import acknowledgements, memory
from apps.comparison.comparability.facts import lasting_facts
from apps.comparison.comparability.memory import RunSpread, SideMemory
from apps.comparison.failovers.results import (
    FAULTS,
    FailoverFilter,
    FailoverResults,
    FailoverTrial,
    TrialGroup,
    load_failovers,
)
from apps.comparison.matrix import FEWEST_SIDES as FEWEST_MATRIX_SIDES
from apps.comparison.matrix import LATENCY, PRIMARY, Many, ManyRow, ManySide, compare_many
from apps.comparison.matrix import MOST_SIDES as MOST_MATRIX_SIDES
from apps.comparison.schema_changes.results import ChangeFilter, schema_changes
from apps.comparison.sections import (
    all_metrics,
    cost,
    latency,
    load_level_data,
    steadiness,
    table_growth,
    time_to_finish,
    timelines,
    work,
)
from apps.comparison.sections.all_metrics import READING as ALL_METRICS_SECTION
from apps.comparison.sections.all_metrics import Everything, Measured, everything
from apps.comparison.sections.cost import HOURS_A_MONTH, ComparedCost, Machines, OtherSize, SideCost
from apps.comparison.sections.cost import READING as COST_SECTION
from apps.comparison.sections.latency import READING as LATENCY_SECTION
from apps.comparison.sections.latency import SideLatency
from apps.comparison.sections.load_level_data import Climbs, throughput_metric
from apps.comparison.sections.steadiness import DIPS, VARIATION, WORST, ComparedSteadiness, RunSteadiness
from apps.comparison.sections.steadiness import READING as STEADINESS_SECTION
from apps.comparison.sections.table_growth import Growing, RunGrowth
from apps.comparison.sections.time_to_finish import Finishing
from apps.comparison.sections.timelines import ClockEvent, RunTimeline, newest
from apps.comparison.sections.work import PER, ComparedWork, work_of
from apps.comparison.sections.work import READING as WORK_SECTION
from apps.comparison.selection import baselines, choices
from apps.comparison.selection.baselines import Pin
from apps.comparison.selection.data import variables_of
from apps.comparison.selection.sides import FEWEST_SIDES, MOST_SIDES, Chosen, ChosenSide, UnknownSide, system_slug
from apps.comparison.values import ComparedCampaign

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
    "PRIMARY",
    "STEADINESS_SECTION",
    "VARIATION",
    "WORK_SECTION",
    "WORST",
    "ChangeFilter",
    "Chosen",
    "ChosenSide",
    "Climbs",
    "ClockEvent",
    "ComparedCampaign",
    "ComparedCost",
    "ComparedSteadiness",
    "ComparedWork",
    "Corroboration",
    "Everything",
    "FailoverFilter",
    "FailoverResults",
    "FailoverTrial",
    "Finishing",
    "Growing",
    "Machines",
    "Many",
    "ManyRow",
    "ManySide",
    "Measured",
    "OtherSize",
    "Pin",
    "RunGrowth",
    "RunSpread",
    "RunSteadiness",
    "RunTimeline",
    "SideClaim",
    "SideCost",
    "SideLatency",
    "SideMemory",
    "StatedWitness",
    "TrialGroup",
    "UnknownSide",
    "Witness",
    "acknowledgements",
    "all_metrics",
    "baselines",
    "choices",
    "claims",
    "compare",
    "compare_many",
    "corroborate",
    "cost",
    "everything",
    "lasting_facts",
    "latency",
    "load_failovers",
    "load_level_data",
    "matrix",
    "memory",
    "newest",
    "schema_changes",
    "steadiness",
    "system_slug",
    "table_growth",
    "throughput_metric",
    "time_to_finish",
    "timelines",
    "variables_of",
    "work",
    "work_of",
]
