"""The USE method: utilization, saturation and errors of every resource of a run, and the resource that limits a system.

Grain: one indicator of one resource on one node of one run. resources has one module each: rules over series, all pure;
resource_table lists them; panels stores the results of each run; bottlenecks combines them over load levels and sides.
Series and their statistics belong to runs. The reference of resources is generated from the table.
"""
