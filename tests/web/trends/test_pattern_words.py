"""What a series does besides changes of level, in words."""

from apps.regressions.trends.patterns import TrendBurst, TrendEffect, TrendPatterns, TrendSeason, TrendSessions
from apps.web.trends import pattern_words


def test_weekdays_machines_the_host_bursts_and_sessions_are_named_with_their_intervals() -> None:
    days = (TrendEffect("Monday", -0.012, -0.02, -0.004), TrendEffect("Sunday", 0.031, 0.02, 0.042))
    machines = (TrendEffect("a", 0.012, 0.009, 0.015), TrendEffect("b", -0.0119, -0.0149, -0.0089))
    found = TrendPatterns(
        season=TrendSeason(days, 0.043, 1e-9),
        machines=machines,
        host=(TrendEffect("canary", -0.081, -0.09, -0.072), TrendEffect("stolen", -0.012, -0.015, -0.009)),
        bursts=(TrendBurst(20, 3, -0.07, -0.08, -0.06), TrendBurst(50, 5, -0.081, -0.095, -0.067)),
        sessions=TrendSessions(0.018, 0.013, 0.024, 0.005, 40),
    )
    assert pattern_words.marks(found) == [
        ("weekdays", "Weekdays differ: Sundays +3.1\xa0% [+2.0, +4.2], Mondays −1.2\xa0% [−2.0, −0.40]; taken out."),
        ("machines", "Load generators differ: a +1.2\xa0% [+0.90, +1.5], b −1.2\xa0% [−1.5, −0.89]; taken out."),
        (
            "host",
            "Follows the host: −8.1\xa0% [−9.0, −7.2] for 10\xa0% more CPU time of a fixed piece of work, "
            "−1.2\xa0% [−1.5, −0.90] for each percentage point of CPU time stolen; taken out.",
        ),
        (
            "bursts",
            "Bursts: 2 of 3 to 5 runs, the last of 5 runs by −8.1\xa0% [−9.5, −6.7]; no change of level.",
        ),
        (
            "sessions",
            "Sessions differ: standard deviation 1.8\xa0% [1.3, 2.4] between 40 sessions, 0.50\xa0% within them; "
            "changes are judged by it.",
        ),
    ]
