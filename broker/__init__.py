"""pgbroker: workload brokerage as PostgreSQL queries.

Resources, tasks and jobs are rows; every decision is a query; Python calls, loads and shows.
"""

__version__ = "0.1.0"
