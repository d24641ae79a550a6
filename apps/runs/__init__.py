"""The warehouse: runs with their configuration, samples, headline values, histograms, events, files and quality checks.

Grain: one run, an execution of one workload on one system at one load level. Batches are stored as they arrive
(ingest), read into columns (samples), and sealed once into compressed series (seal, storage). tool_output parses the
output of load tools; queries are the reads of other apps; archive moves runs to Parquet and back. Comparing runs is
in comparison, finding their bottlenecks in use_method.
"""
