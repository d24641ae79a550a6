"""Asked rate: whether as much was done as was asked for. Pure."""

from apps.runs.quality.values import QualityFacts, RuleFinding, cannot_tell, failed, limit, passed, percent, plain

# Waiting times grow without bound well before nothing more is done: less than this share is another experiment.
LEAST_DONE = 0.95
CHANCE = 3.0  # standard deviations of the number of arrivals, which tools draw at random (a Poisson process)
LIMITS = f"at least {limit(LEAST_DONE)} of the asked rate is done, or no fewer than chance explains"


def is_held(done: float, *, rate: float, length: float) -> bool:
    """`done` and `rate` in transactions/s; `length` of the measured phase, s; 0: not known, and chance explains
    nothing."""
    share, arrivals = done / rate, rate * length
    return share >= LEAST_DONE or 0 < (1 - share) * arrivals <= CHANCE * arrivals**0.5


def check(facts: QualityFacts) -> RuleFinding:
    done = facts.headlines.get("client.throughput")
    if facts.rate is None:
        return passed("No rate was asked: the load was as fast as the system allowed.")
    if done is None:
        return cannot_tell("The tool reported no transactions per second.", asked=facts.rate)
    share = done / facts.rate
    text = f"{plain(done)} of {plain(facts.rate)} transactions/s asked were done: {percent(share)}"
    detail = {"asked": facts.rate, "done": done, "share": share}
    if facts.faults:
        return passed(f"{text}; {facts.tool} measures what is missing.", **detail)
    if not is_held(done, rate=facts.rate, length=facts.length or 0.0):
        return failed(f"{text}. Latency is that of a queue that grows, not of this rate.", **detail)
    return passed(f"{text}.", **detail)
