"""One setup for the tests of alerts, with minutes of the history of figures that a test writes; nothing is kept."""

import json
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from tests.calls import Calls, Connection

NOON = datetime(2026, 3, 28, 12, tzinfo=UTC)
MINUTE = timedelta(minutes=1)
Series = tuple[str, tuple[tuple[str, str], ...]]


def series(figure: str, **labels: str) -> Series:
    """A figure with its labels."""
    return figure, tuple(sorted(labels.items()))


class Alerts:
    """A setup; the test writes its minutes and judges them."""

    def __init__(self, q: Calls) -> None:
        self.q = q
        self.minute = 0
        q.set_clock(NOON)
        q.connection.execute("select resource.set_identity(%s, 'broker_agent')", [q.setup])
        self.places: dict[Series, int] = {}

    @property
    def at(self) -> datetime:
        """The next minute."""
        return NOON + self.minute * MINUTE

    def sample(self, values: Mapping[Series, float]) -> None:
        """Write a minute, and set the clock to its end."""
        for name, labels in values:
            if (name, labels) not in self.places:
                place = self.places[name, labels] = len(self.places) + 1
                self.q.connection.execute(
                    "insert into history.series values (%s, %s, %s, %s, %s, %s)",
                    [self.q.setup, place, name, json.dumps(dict(labels)), self.at, self.at],
                )
        row = [float(values.get(one, 0)) for one in self.places]
        self.q.connection.execute(
            "insert into history.sample (setup, step, at, samples, mean) values (%s, '1 minute', %s, 1, %s)",
            [self.q.setup, self.at, row],
        )
        self.skip()

    def skip(self) -> None:
        """Let a minute pass without a sample."""
        self.minute += 1
        self.q.set_clock(self.at + timedelta(seconds=5))

    def judge(self) -> int | None:
        """Judge the rules, as the loop does."""
        changed: int | None = self.q.value("select alert.judge(%s)", self.q.setup)
        return changed

    def pass_minutes(self, minutes: Iterable[Mapping[Series, float]]) -> None:
        """Write minutes, each judged."""
        for values in minutes:
            self.sample(values)
            assert self.judge() is not None

    def rule(self, name: str, **columns: Any) -> None:
        """Set a rule."""
        self.q.value("select alert.set_rule(%s, %s, %s)", self.q.setup, name, json.dumps(columns, default=str))

    def target(self, name: str, **columns: Any) -> None:
        """Set a target."""
        self.q.value("select alert.set_target(%s, %s, %s)", self.q.setup, name, json.dumps(columns))

    def only(self, name: str, **columns: Any) -> None:
        """Set a rule, and switch all others off."""
        for (shipped,) in self.q.rows("select rule from alert.shipped_rule"):
            self.rule(shipped, enabled=False)
        self.rule(name, enabled=True, **columns)

    def states(self) -> dict[str, str]:
        """Value of the label -> state of its last alert."""
        rows = self.q.rows("select labels, state from alert.alert_now where setup = %s order by alert_id", self.q.setup)
        return {next(iter(labels.values()), ""): state for labels, state in rows}


@pytest.fixture
def alerts(rolled_back: Connection) -> Alerts:
    """A setup at noon."""
    return Alerts(Calls(rolled_back))
