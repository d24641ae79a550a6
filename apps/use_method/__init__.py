"""The USE method: for every resource its utilization, saturation and errors, and from them what limits a system.

`table` lists the resources, one module each below `resources`: rules over series, all pure. `reading` brings a run's
series to them, `panels` keeps what they say of each run, `bottlenecks` reads it across a ladder of load levels.
docs/use-method.md is written from the table.
"""
