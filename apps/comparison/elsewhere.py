"""Where apps that build on comparisons keep their readings. Imports nothing: known before models are."""

# Modules that hold a READING; imported when it is asked for, not by every process that starts.
ELSEWHERE: list[str] = []
