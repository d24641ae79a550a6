"""Interface of this app for other apps, as far as it needs no database. Pure."""

from apps.comparison import verdict_table
from apps.comparison.comparability import differences, variables
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
from apps.comparison.comparability.variables import DEFAULT, PLACE, PROVIDER_OPTIONS, WEIGHTY
from apps.comparison.failovers.timeouts import TimeoutShare
from apps.comparison.failovers.trials import COUNTS, PHASES, Course, Insert, Interruption, TrialSpread, WriteRows
from apps.comparison.schema_changes.disturbance import LoadSeconds
from apps.comparison.schema_changes.statements import AS_CHOSEN, stated_operation, title_of
from apps.comparison.schema_changes.values import QUANTITIES, ChangeTrial, Quantity, SchemaChange, SchemaChanges
from apps.comparison.sections import serialisation, verdicts
from apps.comparison.sections.load_levels import (
    PERCENTILES,
    Collapse,
    Ladder,
    LoadLevelData,
    ObjectiveState,
    Reach,
    Rested,
    Saturation,
    SideLevels,
    ladder,
)
from apps.comparison.sections.scaleup import Gain, StepUp
from apps.comparison.sections.section import NotKept, Section, SectionSource
from apps.comparison.stats import welch
from apps.comparison.stats.dips import DIP_SHARE, FEWEST_VALUES, Box
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
    "ACCEPTABLE",
    "AS_CHOSEN",
    "COUNTS",
    "DEFAULT",
    "DIP_SHARE",
    "DISCOVERY_RATE",
    "FEWEST_RUNS",
    "FEWEST_VALUES",
    "MARGIN",
    "MOST_REPETITIONS",
    "NOT_KNOWN",
    "NOT_SET",
    "NO_ERRORS",
    "NO_VALUES",
    "PERCENTILES",
    "PHASES",
    "PLACE",
    "POWER",
    "PROVIDER_OPTIONS",
    "QUANTITIES",
    "TITLES",
    "WEIGHTY",
    "WITHHELD",
    "Box",
    "Cell",
    "ChangeTrial",
    "Collapse",
    "ComparedMetric",
    "ComparedRun",
    "ComparedWorkload",
    "Comparison",
    "Course",
    "Difference",
    "Direction",
    "Estimate",
    "FieldGroup",
    "Fit",
    "Gain",
    "Insert",
    "Interruption",
    "Ladder",
    "Level",
    "LoadLevelData",
    "LoadSeconds",
    "More",
    "NotKept",
    "ObjectiveState",
    "Obstacle",
    "Quantity",
    "Ratio",
    "Reach",
    "Rested",
    "Sample",
    "Saturation",
    "SchemaChange",
    "SchemaChanges",
    "Section",
    "SectionSource",
    "Side",
    "SideLevels",
    "StepUp",
    "TimeoutShare",
    "TrialSpread",
    "Verdict",
    "Weight",
    "WriteRows",
    "differences",
    "interval_text",
    "label",
    "ladder",
    "ratio_text",
    "serialisation",
    "stated_operation",
    "title_of",
    "variables",
    "verdict_table",
    "verdicts",
    "welch",
    "with_interval",
]
