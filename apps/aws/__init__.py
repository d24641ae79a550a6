"""Aurora and RDS through the API of AWS: topology, hardware, prices, events, CloudWatch metrics, failover on request.

Grain: one observation of one system. Metrics become a stream of a run, like an agent's uploads; runs stores them.
"""
