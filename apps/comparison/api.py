"""Interface of this app for other apps; everything else is internal. Tables are in models."""

from apps.comparison import compare, matrix, verdict_table
from apps.comparison.agreement import claims
from apps.comparison.agreement.claims import CANNOT_TELL, CONTESTED, Corroboration, SideClaim, Witness, corroborate
from apps.comparison.agreement.claims import READING as AGREEMENT_SECTION
from apps.comparison.agreement.claims import WITHHELD as CLAIM_WITHHELD
from apps.comparison.agreement.published_evidence import ABOUT, StatedWitness
from apps.comparison.comparability import acknowledgements, differences, memory, variables
from apps.comparison.comparability.differences import (
    ACCEPTABLE,
    NOT_KNOWN,
    NOT_SET,
    TITLES,
    Difference,
    FieldGroup,
    Obstacle,
    Weight,
)
from apps.comparison.comparability.facts import lasting_facts
from apps.comparison.comparability.memory import RunSpread, SideMemory
from apps.comparison.comparability.variables import DEFAULT, PLACE, PROVIDER_OPTIONS, WEIGHTY
from apps.comparison.failovers.results import (
    FAULTS,
    FailoverFilter,
    FailoverResults,
    FailoverTrial,
    TrialGroup,
    load_failovers,
)
from apps.comparison.failovers.timeouts import TimeoutShare
from apps.comparison.failovers.trials import COUNTS, PHASES, Course, Insert, Interruption, TrialSpread, WriteRows
from apps.comparison.matrix import FEWEST_SIDES as FEWEST_MATRIX_SIDES
from apps.comparison.matrix import LATENCY, PRIMARY, Many, ManyRow, ManySide, compare_many
from apps.comparison.matrix import MOST_SIDES as MOST_MATRIX_SIDES
from apps.comparison.schema_changes.disturbance import LoadSeconds
from apps.comparison.schema_changes.results import ChangeFilter, schema_changes
from apps.comparison.schema_changes.statements import AS_CHOSEN, stated_operation, title_of
from apps.comparison.schema_changes.values import QUANTITIES, ChangeTrial, Quantity, SchemaChange, SchemaChanges
from apps.comparison.sections import (
    all_metrics,
    cost,
    latency,
    load_level_data,
    serialisation,
    steadiness,
    table_growth,
    time_to_finish,
    timelines,
    verdicts,
    work,
)
from apps.comparison.sections.all_metrics import READING as ALL_METRICS_SECTION
from apps.comparison.sections.all_metrics import Everything, Measured, everything
from apps.comparison.sections.cost import HOURS_A_MONTH, ComparedCost, OtherSize, SideCost
from apps.comparison.sections.cost import READING as COST_SECTION
from apps.comparison.sections.latency import READING as LATENCY_SECTION
from apps.comparison.sections.latency import SideLatency
from apps.comparison.sections.load_level_data import Climbs, throughput_metric
from apps.comparison.sections.load_levels import PERCENTILES, Ladder, ObjectiveState, Reach, Rested, SideLevels, ladder
from apps.comparison.sections.scaleup import Gain, StepUp
from apps.comparison.sections.section import NotKept, Section, SectionSource
from apps.comparison.sections.steadiness import HICCUPS, VARIATION, WORST, ComparedSteadiness, RunSteadiness
from apps.comparison.sections.steadiness import READING as STEADINESS_SECTION
from apps.comparison.sections.table_growth import Growing
from apps.comparison.sections.timelines import RunTimeline, newest
from apps.comparison.sections.work import PER, ComparedWork, work_of
from apps.comparison.sections.work import READING as WORK_SECTION
from apps.comparison.selection import baselines, choices
from apps.comparison.selection.data import variables_of
from apps.comparison.selection.sides import FEWEST_SIDES, MOST_SIDES, Chosen, ChosenSide, UnknownSide, system_slug
from apps.comparison.stats import welch
from apps.comparison.stats.dips import FEWEST_VALUES, HICCUP, Box
from apps.comparison.stats.usl import Estimate, Fit
from apps.comparison.stats.welch import (
    DISCOVERY_RATE,
    FEWEST_RUNS,
    MARGIN,
    MOST_REPETITIONS,
    POWER,
    Direction,
    Ratio,
    Sample,
    Verdict,
)
from apps.comparison.values import (
    NO_VALUES,
    Cell,
    ComparedMetric,
    ComparedRun,
    ComparedWorkload,
    Comparison,
    Level,
    More,
    Side,
)
from apps.comparison.verdict_table import NO_ERRORS, WITHHELD
from apps.comparison.wording import interval_text, label, ratio_text, with_interval

__all__ = [
    "ABOUT",
    "ACCEPTABLE",
    "AGREEMENT_SECTION",
    "ALL_METRICS_SECTION",
    "AS_CHOSEN",
    "CANNOT_TELL",
    "CLAIM_WITHHELD",
    "CONTESTED",
    "COST_SECTION",
    "COUNTS",
    "DEFAULT",
    "DISCOVERY_RATE",
    "FAULTS",
    "FEWEST_MATRIX_SIDES",
    "FEWEST_RUNS",
    "FEWEST_SIDES",
    "FEWEST_VALUES",
    "HICCUP",
    "HICCUPS",
    "HOURS_A_MONTH",
    "LATENCY",
    "LATENCY_SECTION",
    "MARGIN",
    "MOST_MATRIX_SIDES",
    "MOST_REPETITIONS",
    "MOST_SIDES",
    "NOT_KNOWN",
    "NOT_SET",
    "NO_ERRORS",
    "NO_VALUES",
    "PER",
    "PERCENTILES",
    "PHASES",
    "PLACE",
    "POWER",
    "PRIMARY",
    "PROVIDER_OPTIONS",
    "QUANTITIES",
    "STEADINESS_SECTION",
    "TITLES",
    "VARIATION",
    "WEIGHTY",
    "WITHHELD",
    "WORK_SECTION",
    "WORST",
    "Box",
    "Cell",
    "ChangeFilter",
    "ChangeTrial",
    "Chosen",
    "ChosenSide",
    "Climbs",
    "ComparedCost",
    "ComparedMetric",
    "ComparedRun",
    "ComparedSteadiness",
    "ComparedWork",
    "ComparedWorkload",
    "Comparison",
    "Corroboration",
    "Course",
    "Difference",
    "Direction",
    "Estimate",
    "Everything",
    "FailoverFilter",
    "FailoverResults",
    "FailoverTrial",
    "FieldGroup",
    "Fit",
    "Gain",
    "Growing",
    "Insert",
    "Interruption",
    "Ladder",
    "Level",
    "LoadSeconds",
    "Many",
    "ManyRow",
    "ManySide",
    "Measured",
    "More",
    "NotKept",
    "ObjectiveState",
    "Obstacle",
    "OtherSize",
    "Quantity",
    "Ratio",
    "Reach",
    "Rested",
    "RunSpread",
    "RunSteadiness",
    "RunTimeline",
    "Sample",
    "SchemaChange",
    "SchemaChanges",
    "Section",
    "SectionSource",
    "Side",
    "SideClaim",
    "SideCost",
    "SideLatency",
    "SideLevels",
    "SideMemory",
    "StatedWitness",
    "StepUp",
    "TimeoutShare",
    "TrialGroup",
    "TrialSpread",
    "UnknownSide",
    "Verdict",
    "Weight",
    "Witness",
    "WriteRows",
    "acknowledgements",
    "all_metrics",
    "baselines",
    "choices",
    "claims",
    "compare",
    "compare_many",
    "corroborate",
    "cost",
    "differences",
    "everything",
    "interval_text",
    "label",
    "ladder",
    "lasting_facts",
    "latency",
    "load_failovers",
    "load_level_data",
    "matrix",
    "memory",
    "newest",
    "ratio_text",
    "schema_changes",
    "serialisation",
    "stated_operation",
    "steadiness",
    "system_slug",
    "table_growth",
    "throughput_metric",
    "time_to_finish",
    "timelines",
    "title_of",
    "variables",
    "variables_of",
    "verdict_table",
    "verdicts",
    "welch",
    "with_interval",
    "work",
    "work_of",
]
