"""The boards of Grafana, and their queries."""

import json

from tests.cluster.kit.files import folder
from tests.service.conftest import SETUP

BOARDS = {path.stem: json.loads(path.read_text()) for path in folder("grafana/boards")}


def targets(key: str) -> list[tuple[str, dict[str, str]]]:
    """The queries that have this key, each with its board and panel."""
    return [
        (f"{name}: {panel['title']}", target)
        for name, board in BOARDS.items()
        for panel in board["panels"]
        for target in panel["targets"]
        if key in target
    ]


def plain(query: str) -> str:
    """The query as Grafana sends it, with values for its variables."""
    return query.replace("$__rate_interval", "1m").replace('"$setup"', f'"{SETUP}"')
