"""Aurora and RDS by the API of AWS: topology, hardware, prices, events, CloudWatch metrics, failover on request.

Grain: one sighting of one system. Metrics become a stream of a run as an agent uploads it; runs stores them.
"""
