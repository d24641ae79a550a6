"""One question about a run each: facts in, a finding out. Pure."""
