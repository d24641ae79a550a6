"""Reading of series from Prometheus, VictoriaMetrics, Mimir and PMM. Shared with the agent: standard library only."""
