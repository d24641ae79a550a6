"""The warehouse: runs with their configuration, samples, headline values, histograms, events, files and quality checks.

Grain: one run, an execution of one workload on one system at one load level. Batches are stored as they arrive
(ingest), read into columns (samples), and sealed once into compressed series (seal, storage). tool_output reads what
load tools printed; queries are how other apps read; archive moves runs to Parquet and back. Runs are never compared
here: that is comparison. What limits a run is use_method.
"""
