"""The scenario of a simulation: the size of the grid, the amount of work, and the failures and their times."""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any

from broker.errors import BadRequest

KINDS = ("offline", "black hole", "network", "failing")
GUARDS = ("off", "watch", "on")

_SHARES = {
    "MC Default": 40.0, "Group production": 12.0, "Reprocessing default": 15.0, "Heavy Ion": 6.0, "Upgrade": 5.0,
    "Validation": 3.0, "Express": 4.0, "User Analysis": 12.0, "Group Analysis": 2.0, "Express Analysis": 1.0,
}  # fmt: skip

# examples of the how-to page about failed jobs
_RETRIES: tuple[Mapping[str, Any], ...] = (
    {"position": 10, "name": "bad-options", "classes": ["payload", "input"], "decision": "fail"},
    {"position": 20, "name": "more-memory", "classes": ["memory"], "failures_to": 3, "decision": "retry",
     "memory_factor": 1.5},
    {"position": 30, "name": "other-queue", "classes": ["infrastructure"], "failures_to": 3, "decision": "retry",
     "elsewhere": "site"},
    {"position": 40, "name": "site-trouble", "failures_to": 2, "decision": "later", "delay": 1800},
)  # fmt: skip


@dataclass(frozen=True)
class Trouble:
    """A disturbance between two moments, each a fraction of the run (0 to 1). offline: a site's queues go offline and
    its agents die with their jobs. black hole: jobs at a site fail after a minute. failing: jobs at a site fail with
    the probability `factor`. network: links keep `factor` of their throughput. site: its name, or its rank by cores (1
    = the largest); none for the network. hosts: number of worker nodes of the site that are black holes; 0 = the whole
    site. gives_back: a black hole gives its jobs back after a minute.
    """

    kind: str
    begin: float
    end: float
    site: int | str | None = None
    factor: float = 0.1
    hosts: int = 0
    gives_back: bool = False

    def __post_init__(self) -> None:
        """Refuse impossible values."""
        if self.kind not in KINDS:
            raise BadRequest(f"kind of a trouble is {self.kind!r}", f"troubles are {', '.join(KINDS)}")
        if not 0 <= self.begin < self.end <= 1:
            raise BadRequest(
                f"{self.kind} begins at {self.begin} and ends at {self.end}", "both are parts of the run, 0 to 1"
            )
        if (self.site is None) != (self.kind == "network"):
            raise BadRequest(f"site of {self.kind} is {self.site}", "name a site or its rank; none for the network")
        if not 0 < self.factor <= 1:
            raise BadRequest(f"factor of {self.kind} is {self.factor}", "it is above 0 and at most 1")
        if isinstance(self.hosts, bool) or not isinstance(self.hosts, int) or self.hosts < 0:
            raise BadRequest(f"hosts of {self.kind} is {self.hosts!r}", "it is a number of worker nodes, 0 or more")
        if not isinstance(self.gives_back, bool):
            raise BadRequest(f"gives_back of {self.kind} is {self.gives_back!r}", "it is true or false")
        for name in ("hosts", "gives_back"):
            if self.kind != "black hole" and getattr(self, name):
                raise BadRequest(f"{name} of {self.kind} is {getattr(self, name)}", "only a black hole has this key")


@dataclass(frozen=True)
class Scenario:
    """A run. All of the grid is synthetic (broker.laboratory.grid).

    queues: PanDA queues. scale: factor on their cores. load: arriving work, as a fraction of the capacity of all cores.
    backlog: hours of work that wait at the beginning. pace: factor on the CPU time of production. user_part: fraction
    of tasks of users. files: maximal number of files of a dataset. failing: probability that a job fails; silent: that
    its agent dies silently; unstarted: that an agent never starts its job. cycle: minutes from one run of the brokers
    to the next. tick: minutes of a step. mbps: default throughput of links. shares: targets, in percent. demand:
    factors on the arriving work of shares; without factors it is proportional to the targets. clouds: sites that are
    clouds, after the largest: the cores of their largest queue are those of instances rented for its jobs. boot:
    minutes from the request of an instance to its first request for jobs. profile: decides in the setup, and its base
    sets the timeouts; None: documented. trial: profile that decides trial_share of the tasks in a trial; None: no
    trial. host_slots: slots of a worker node; 0: no worker nodes, all slots of a queue ask together. guard: the setting
    guard of the setup, if there are worker nodes: off, watch or on. retry_rules: as taskqueue.set_retry_rules takes
    them.
    """

    name: str = "calm"
    hours: float = 6
    queues: int = 24
    scale: float = 0.2
    load: float = 0.9
    backlog: float = 1
    pace: float = 0.25
    user_part: float = 0.25
    files: int = 40
    failing: float = 0.02
    silent: float = 0.001
    unstarted: float = 0.002
    cycle: int = 10
    tick: int = 1
    mbps: float = 40
    clouds: int = 0
    boot: float = 3
    profile: str | None = None
    trial: str | None = None
    trial_share: float = 0.5
    shares: Mapping[str, float] = field(default_factory=lambda: dict(_SHARES))
    demand: Mapping[str, float] = field(default_factory=dict)
    troubles: tuple[Trouble, ...] = ()
    host_slots: int = 0
    guard: str = "watch"
    retry_rules: tuple[Mapping[str, Any], ...] = ()

    def __post_init__(self) -> None:
        """Refuse impossible values."""
        for one in fields(self):
            value = getattr(self, one.name)
            if one.type in (int, float) and (isinstance(value, bool) or not isinstance(value, (int, one.type))):
                raise BadRequest(f"{one.name} of the scenario is {value!r}", "it is a number")
        for name in ("hours", "queues", "scale", "load", "pace", "files", "cycle", "tick", "mbps"):
            if not getattr(self, name) > 0:
                raise BadRequest(f"{name} of the scenario is {getattr(self, name)}", "it is above 0")
        for name in ("user_part", "failing", "silent", "unstarted"):
            if not 0 <= getattr(self, name) <= 1:
                raise BadRequest(f"{name} of the scenario is {getattr(self, name)}", "it is a part, 0 to 1")
        for name in ("backlog", "clouds", "boot", "host_slots"):
            if getattr(self, name) < 0:
                raise BadRequest(f"{name} of the scenario is {getattr(self, name)}", "it is 0 or more")
        self._require_nodes()
        if not self.shares or min(self.shares.values()) <= 0:
            said = ", ".join(f"{share} = {target}" for share, target in self.shares.items()) or "none"
            raise BadRequest(
                f"shares of the scenario are {said}", "each is above 0; leave out the shares that there are not"
            )
        for share, factor in self.demand.items():
            if share not in self.shares:
                raise BadRequest(f"demand of {share!r}, which is not a share", f"shares are {', '.join(self.shares)}")
            if factor < 0:
                raise BadRequest(f"demand of {share} is {factor}", "a factor, 0 or more")

    def _require_nodes(self) -> None:
        if self.guard not in GUARDS:
            raise BadRequest(f"guard of the scenario is {self.guard!r}", f"it is {', '.join(GUARDS)}")
        if not self.host_slots and (self.guard == "on" or any(trouble.hosts for trouble in self.troubles)):
            raise BadRequest(
                "the scenario has no worker nodes", "host_slots is the number of slots of a worker node, such as 8"
            )


PRESETS = {
    "calm": Scenario(),
    "cloud": Scenario(name="cloud", clouds=2),
    "storm": Scenario(
        name="storm",
        load=1.2,
        failing=0.03,
        silent=0.005,
        unstarted=0.01,
        demand={"MC Default": 2},
        troubles=(
            Trouble("failing", 0.1, 0.9, site=4, factor=0.3), Trouble("black hole", 0.25, 0.6, site=2, hosts=1),
            Trouble("network", 0.3, 0.6, factor=0.1), Trouble("offline", 0.4, 0.8, site=1),
        ),
        host_slots=8,
        retry_rules=_RETRIES,
    ),
}  # fmt: skip


def named(name: str, **changes: Any) -> Scenario:
    """A preset, or a scenario of a TOML file: keys are the fields of Scenario and `from`, a preset that it changes;
    `[shares]`, `[demand]`, `[[trouble]]` and `[[retry_rules]]` are tables. Changes that are None are ignored. Raises
    BadRequest."""
    made = PRESETS.get(name) or _read(Path(name))
    return replace(made, **{key: value for key, value in changes.items() if value is not None})


def _read(path: Path) -> Scenario:
    hint = f"scenarios are {', '.join(PRESETS)}, or a TOML file"
    try:
        given = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise BadRequest(f"scenario {path} cannot be read: {error.strerror}", hint) from None
    except (tomllib.TOMLDecodeError, UnicodeError) as error:
        raise BadRequest(f"scenario {path} is not TOML: {error}", hint) from None
    base = given.pop("from", "calm")
    if base not in PRESETS:
        raise BadRequest(f"scenario {path} is from {base}", hint)
    troubles = given.pop("trouble", None)
    known = {one.name: one.type for one in fields(Scenario) if one.name != "troubles"}
    if unknown := [key for key in given if key not in known]:
        raise BadRequest(f"not known in scenario {path}: {', '.join(unknown)}", f"known: {', '.join(known)}, trouble")
    try:
        if troubles is not None:
            given["troubles"] = tuple(_trouble(number, one) for number, one in enumerate(troubles, 1))
        if "retry_rules" in given:
            given["retry_rules"] = tuple(given["retry_rules"])
        return replace(PRESETS[base], **{"name": path.stem, **given})
    except (TypeError, AttributeError) as error:
        raise BadRequest(f"scenario {path} does not fit: {error}", hint) from None


def _trouble(number: int, given: Mapping[str, Any]) -> Trouble:
    known = [one.name for one in fields(Trouble)]
    needed = ("kind", "begin", "end")
    if wrong := [f"{key} is missing" for key in needed if key not in given] or [
        f"{key} is not known" for key in given if key not in known
    ]:
        raise BadRequest(f"trouble {number} of the scenario: {', '.join(wrong)}", f"known: {', '.join(known)}")
    return Trouble(**given)
