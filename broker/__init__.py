"""pgbroker: workload brokerage as PostgreSQL queries.

Resources, tasks and jobs are rows; every decision is a query; Python calls them, loads data and shows results.
"""

__version__ = "0.1.0"
