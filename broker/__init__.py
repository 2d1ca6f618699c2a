"""pgbroker: workload brokerage as PostgreSQL queries.

Resources, tasks and jobs are rows; every decision is a query; Python calls them, loads data and shows results.
"""

__version__ = "0.2.0"

INSTALL = "pip install '.[{}]', in the folder that you cloned"
"""How an extra is installed. A test compares the pages with it (RELEASE.md, A package index)."""
