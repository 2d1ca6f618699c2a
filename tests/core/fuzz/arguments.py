"""Arguments for the functions of pgbroker, from their types and names: valid, nearly valid and hostile ones.

Every argument is a text that the call casts to its type, as a client sends it.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Any

import psycopg

from tests.core.fuzz import values
from tests.core.fuzz.small_world import GROUPS, OWNERS, RESOURCE, SETUPS, SITES
from tests.core.fuzz.values import encode, spoilt

Connection = psycopg.Connection[Any]
ALGORITHMS = ["production_job", "analysis_job", "production_task"]
REQUIREMENTS = {
    "OwnerDN": "alice", "OwnerGroup": "g1", "CPUTime": 400, "Sites": ["S1"], "BannedSites": ["S9"], "GridCEs": ["C1"],
    "Platforms": ["P1"], "JobTypes": ["User"], "Tags": ["t"], "PilotTypes": ["private"], "MinRAM": 1000,
    "TagExpression": "t | ~u & (v | \"w x\")", "Attributes": {"glibc": {"min": "2.28"}, "gpu.count": [0, {"above": 1}]},
    "Alternatives": [{"Attributes": {"scratch": {"min": 9.5}}}, {"Sites": ["S1"], "TagExpression": "~u"}],
    "Clauses": [{"Tags": ["t", "u"], "NoTags": ["v"], "Attributes": {"arch": ["x86_64"], "userns": [True]}}],
    "MinNumberOfProcessors": 2, "MaxNumberOfProcessors": 8, "RAMPerProcessor": 100,
}  # fmt: skip
DESCRIPTION = {
    **RESOURCE, "Site": "S1", "GridCE": "C1", "Platform": ["P1", "P2"], "JobType": "User", "Tag": ["t", "u"],
    "PilotType": "private", "OwnerGroup": ["g1", "g2"], "OwnerDN": "alice", "BannedSite": "S8", "BannedTag": ["w"],
    "BannedPlatform": "P9", "BannedJobType": "X", "BannedGridCE": "C9", "RequiredTag": "t", "WholeNode": True,
    "JobID": 104, "Setup": "pool",
    "Attributes": {"arch": "x86_64", "glibc": "2.34-60.el9", "userns": True, "scratch": 9.25, "gpu.count": 2},
}  # fmt: skip
NAMED: dict[str, list[str | None]] = {  # valid texts by the name of the parameter
    "p_algorithm": [*ALGORITHMS, None], "p_app": ["jedi", "pandaserver", None], "p_attempt": ["1-x"],
    "p_attribute": ["JobType", "Owner", "OwnerGroup", "Platform"], "p_based_on": ["documented", "panda2026"],
    "p_ce": ["C1", None], "p_component": ["jobbroker", "taskbrokerage", "", None], "p_description": ["ours"],
    "p_held_by": ["me"],
    "p_key": ["NQUEUED_SAT_CAP", "jobbroker:NQUEUED_SAT_CAP", "taskbrokerage:DISK_THRESHOLD"],
    "p_offered": ["P1", "P3"], "p_outcome": ["finished", "failed"], "p_owner_dn": [*OWNERS, None],
    "p_owner_group": [*GROUPS, "g3", None], "p_profile": ["documented", "panda2026", "own", None],
    "p_reason": ["too old", "-status: offline"], "p_role_name": ["broker_agent", "broker_submitter", "somebody"],
    "p_site": [*SITES], "p_status": ["running", "finished", "activated"],
    "p_step": ["leases", "timeouts", "fast-rebroker", "activate", "shares", "ended"], "p_value": ["User", "alice"],
}  # fmt: skip
INTERVALS = [
    "1 day", "0", "30 minutes", "-1 day", "1000 years", "178000000 years", "-178000000 years", "1 month -30 days",
]  # fmt: skip
TIMES = ["2026-04-01 12:00+00", "1970-01-01", "0001-01-01", "294276-01-01", "4713-01-01 BC", "1000000-01-01", "now"]
IDS = [0, -1, 1, 2**31, 2**63 - 1, -(2**63), 2**63, 10**15, 10**18]


@dataclass
class Known:
    """Existing objects of the database, to choose valid arguments from; they are read again from time to time."""

    numbers: dict[str, list[int]] = field(default_factory=dict)
    texts: dict[str, list[str | None]] = field(default_factory=dict)
    attempts: list[tuple[str, int, str]] = field(default_factory=list)
    tables: dict[str, list[str]] = field(default_factory=dict)
    dumped: dict[str, Any] = field(default_factory=dict)
    settings: dict[str, list[tuple[str, str]]] = field(default_factory=dict)
    setups: list[str] = field(default_factory=list)

    def read(self, db: Connection) -> None:
        """Read the values that change: ids and attempts."""

        def column(query: str) -> list[Any]:
            return [one for (one,) in db.execute(query.encode()).fetchall()] or [1]

        for name, query in _IDS.items():
            self.numbers[name] = column(query)
        query = "select setup, job_id, taskqueue.attempt_text(attempt, token) from taskqueue.lease order by 1, 2"
        self.attempts = db.execute(query).fetchall()
        self.setups = [one for (one,) in db.execute("select setup from resource.setup order by 1").fetchall()]

    def read_once(self, db: Connection) -> None:
        """Read the values that stay for the round: names, tables, rows of tables, settings."""
        for name, query in _NAMES.items():
            self.texts[name] = [one for (one,) in db.execute(query.encode()).fetchall()]
        for schema in ("resource", "workload", "brokerage", "instance"):
            hint = ""
            try:
                with db.transaction():
                    db.execute(f"select {schema}.world_table('')".encode())
            except psycopg.Error as error:
                hint = error.diag.message_hint or ""
            self.tables[schema] = hint.partition(": ")[2].rstrip(".").split(", ")
            for table in self.tables[schema]:
                for setup in SETUPS:
                    query = f"select {schema}.dump(%s, %s) limit 5"
                    rows = [row for (row,) in db.execute(query.encode(), [setup, table]).fetchall()]
                    self.dumped.setdefault(f"{schema}.{table}", []).extend(rows)
        self.dumped["config"] = [row for (row,) in db.execute("select resource.dump_config('grid')").fetchall()]
        for what in ("task_queues", "leases"):
            query = f"select * from taskqueue.dump_{what}('pool') limit 6"
            self.dumped[what] = [row for (row,) in db.execute(query.encode()).fetchall()]
        for table in ("brokerage.setting", "instance.setting", "lifecycle.setting", "taskqueue.setting",
                      "lifecycle.own_timeout", "brokerage.profile_rule", "alert.rule", "alert.target"):  # fmt: skip
            query = "select name, type from resource.table_column(%s) order by place"
            self.settings[table] = db.execute(query, [table]).fetchall()
        self.read(db)


_IDS = {
    "task": "select task_id from workload.task order by 1",
    "job": "select job_id from taskqueue.job union select job_id from monitor.lease union"
    " (select job_id from workload.job order by 1 limit 40) union (select job_id from taskqueue.ended limit 20)"
    " order by 1",
    "task_queue": "select task_queue_id from taskqueue.task_queue order by 1",
    "run": "select run_id from brokerage.run order by 1",
    "instance": "select instance_id from instance.instance order by 1",
    "step": "select step_id from instance.step order by 1",
}
_CHOICES: dict[str, list[Any]] = {
    "set_config": [150, 0.5, "text", True, None],
    "set_error_classes": [
        [
            {"position": n, "source": "pilot", "code_from": 1, "code_to": 9, "pattern": "a.*b", "class": "x"}
            for n in (1, 2)
        ],
        [],
    ],
    "set_retry_rules": [
        [
            {
                "position": 1,
                "name": "again",
                "classes": ["memory"],
                "sites": ["S1"],
                "failures_to": 3,
                "decision": "later",
                "delay": 60,
                "pattern": "a.*b",
                "passive": False,
            },
            {"position": 2, "name": "end", "source": "pilot", "code_from": 1, "code_to": 9, "decision": "fail"},
        ],
        [],
    ],
    "error_class_of": [
        [{"source": "pilot", "code": 1305, "text": "failed"}, {"source": "dirac", "text": "Payload failed"}],
        [],
    ],
}
_CHOICES |= dict.fromkeys(("judge_again", "explain_retry"), _CHOICES["set_retry_rules"])
_ENDS: list[dict[str, Any]] = [
    {"outcome": "finished"},
    {"outcome": "failed", "error": [{"source": "pilot", "code": 5, "text": "no more space"}]},
]
_NAMES = {
    "p_dataset": "select dataset from workload.dataset order by 1 limit 30",
    "p_storage": "select storage from resource.storage order by 1 limit 30",
    "p_queue": "select queue from resource.queue order by 1",
    "p_rule": "select distinct rule from brokerage.rule_in_force union select rule from lifecycle.timeout_in_force"
    " order by 1",
    "p_lfns": "select lfn from workload.dataset_file order by 1 limit 30",
}


class Arguments:
    """Draws the arguments of calls."""

    def __init__(self, rng: Random, known: Known) -> None:
        self.rng = rng
        self.known = known
        self.setup = SETUPS[0]

    def of_call(self, function: str, parameters: list[tuple[str, str, bool]]) -> dict[str, str | None]:
        """Arguments by the name of the parameter; some that have a default are left out."""
        rng, given = (
            self.rng,
            [name for name, _, has_default in parameters if not has_default or self.rng.random() < 0.6],
        )
        self.setup = rng.choice(
            ["grid", "grid", "grid", "pool", "pool", "cloud", rng.choice(self.known.setups or ["x"])]
        )
        if function.startswith("instance."):
            self.setup = "cloud" if rng.random() < 0.7 else self.setup
        how = rng.random()
        bad = set() if how < 0.35 or not given else {rng.choice(given)} if how < 0.8 else {
            name for name in given if rng.random() < 0.4
        }  # fmt: skip
        self.table = rng.choice(self.known.tables.get(function.partition(".")[0], ["x"]))
        self.lease = rng.choice(self.known.attempts) if self.known.attempts else ("pool", 1, "1-x")
        if "p_attempt" in given and rng.random() < 0.8:
            self.setup = self.lease[0]
        return {
            name: self.bad(function, name, kind) if name in bad else self.good(function, name, kind)
            for name, kind, _ in parameters
            if name in given
        }

    def good(self, function: str, name: str, kind: str) -> str | None:
        """A valid argument, or one that may well be valid."""
        rng = self.rng
        if kind == "jsonb":
            return encode(self.json(function, name))
        if kind == "boolean":
            return rng.choice(["true", "false"])
        if kind == "uuid":
            return f"00000000-0000-4000-8000-{rng.randint(0, 5):012}"
        if kind == "interval":
            return rng.choice(INTERVALS[:3])
        if kind == "timestamp with time zone":
            return rng.choice([TIMES[0], TIMES[1], None])
        if kind.endswith("[]"):
            some = [self.good(function, name, kind[:-2]) for _ in range(rng.randint(0, 3))]
            return array([one for one in some if one is not None])
        if kind == "text":
            return self.good_text(function, name)
        if name.removesuffix("s").endswith("_id") or name in ("p_tasks", "p_before", "p_after"):
            return str(self.number(function, name))
        if name == "p_buckets":
            return str(rng.choice([500, 5000, 50000, 300000]))
        return str(rng.choice([1, 2, 5, 100, 1000]))

    def number(self, function: str, name: str) -> int:
        """An id of an existing object."""
        kind = name.removeprefix("p_").removesuffix("s").removesuffix("_id")
        kind = {"before": "run", "after": "run", "tasks": "task"}.get(kind, kind)
        if kind == "job" and self.lease[0] == self.setup and self.rng.random() < 0.5:
            return self.lease[1]
        return self.rng.choice(self.known.numbers.get(kind, IDS))

    def good_text(self, function: str, name: str) -> str | None:
        rng = self.rng
        if name == "p_setup":
            return rng.choice(["new", self.setup, self.setup]) if function.endswith("isolated_setup") else self.setup
        if name == "p_table":
            return self.table
        if name == "p_attempt" and self.lease[0] == self.setup:
            return self.lease[2]
        if name == "p_kind":
            kinds = {"limit": ["running", "delay"], "quarantine": ["host", "ce", "site"]}
            return rng.choice(next((kinds[part] for part in kinds if part in function), ["job", "owner", "task_queue"]))
        if name == "p_name":
            return str(self.number(function, "p_job_id")) if rng.random() < 0.5 else rng.choice(OWNERS)
        if name == "p_rule" and function.endswith("_timeout"):
            return rng.choice(["slow", "own"])
        chosen = rng.choice(self.known.texts.get(name) or NAMED.get(name) or ["x"])
        return chosen

    def bad(self, function: str, name: str, kind: str) -> str | None:
        """An argument that is wrong as a whole or in one place."""
        rng = self.rng
        if rng.random() < 0.12:
            return None
        if kind == "jsonb":
            valid = self.json(function, name)
            return encode(spoilt(rng, valid, rng.choice([1, 1, 2, 4])) if rng.random() < 0.85 else values.value(rng))
        if kind == "interval":
            return rng.choice(["infinity", "-infinity", *INTERVALS])
        if kind == "timestamp with time zone":
            return rng.choice(["infinity", "-infinity", *TIMES])
        if kind.endswith("[]"):
            return self.bad_array(function, name, kind[:-2])
        if kind == "text":
            return values.text(rng)
        if kind in ("numeric", "double precision") and rng.random() < 0.5:
            return rng.choice(["NaN", "Infinity", "-Infinity", "1e300", "-1e-300", "0.5", "1e-400", "-0"])
        if kind in ("boolean", "uuid"):
            return rng.choice(["x", "", "true"])
        return str(rng.choice(IDS))

    def bad_array(self, function: str, name: str, kind: str) -> str:
        rng = self.rng
        one = [self.good(function, name, kind) or "x" for _ in range(2)]
        fixed = [
            "{NULL}", "{{{1}}}", array([*one, None]), array(one * 2), f"[5:6]={array(one)}", "{" + array(one) + "}",
        ]  # fmt: skip
        some_bad = array([self.bad(function, name, kind) for _ in range(rng.randint(1, 3))])
        return rng.choice([*fixed, some_bad, array([str(n) for n in range(rng.choice([100, 3000]))])])

    def json(self, function: str, name: str) -> Any:
        """A valid JSON argument."""
        rng, known = self.rng, self.known
        schema, _, short = function.partition(".")
        if short in ("insert_job", "requires_value") or name == "p_requirements":
            return {**dict(list(REQUIREMENTS.items())[:3]), **some(rng, REQUIREMENTS)}
        if short == "insert_jobs":
            first = rng.randint(10**6, 10**9)
            jobs = [[first + n, rng.randint(1, 9)] for n in range(rng.randint(1, 4))]
            return [{"requirements": {**REQUIREMENTS, **some(rng, REQUIREMENTS)}, "jobs": jobs}]
        if short in ("finish_jobs", "report_jobs"):
            some_leases = [one for one in known.attempts if one[0] == self.setup] or [self.lease]
            ends = _ENDS if short == "finish_jobs" else [{"status": "running"}]
            return [
                {"job_id": job, "attempt": attempt, **rng.choice(ends)}
                for _, job, attempt in rng.sample(some_leases, 1)
            ]
        if short == "add_steps":
            return [{"id": rng.randint(1000, 9999), "cpu": 1, "ram": "2 * size", "inputs": {"size": 3}, "task": 1}]
        if short == "set_needs":
            return [{"id": self.number(function, "p_step_id"), "cpu": 1, "ram": 2, "inputs": {"size": 1}}]
        if short in ("load_task_queues", "load_leases"):
            return rng.sample(known.dumped[short[5:]], 2)
        if short == "store_config":
            return rng.sample(known.dumped["config"], 2)
        if short in _CHOICES:
            return rng.choice(_CHOICES[short])
        if short == "store" and name == "p_rows":
            rows = known.dumped.get(f"{schema}.{self.table}") or [{}]
            return rng.sample(rows, min(len(rows), 2))
        if short == "store":
            rows = known.dumped.get(f"{schema}.{self.table}") or [{"x": 1}]
            return rng.choice([None, True, [], list(rows[0].values())[:1], [rows[0]]])
        if short in ("set_settings", "set_timeout", "set_rule", "set_target"):
            table = {
                "lifecycle.set_timeout": "lifecycle.own_timeout", "brokerage.set_rule": "brokerage.profile_rule",
                "alert.set_rule": "alert.rule", "alert.set_target": "alert.target",
            }.get(function)  # fmt: skip
            columns = known.settings[table or f"{schema}.setting"]
            if short == "set_timeout" and rng.random() < 0.5:
                return {"position": 7, "statuses": ["running"], "clock": "created", "constant": 60, "action": "fail"}
            return {column: self.setting(kind) for column, kind in rng.sample(columns, min(len(columns), 2))}
        return {"CPUTime": 10**6, **some(rng, {**DESCRIPTION, "Setup": self.setup})}

    def setting(self, kind: str) -> Any:
        """A value for a setting."""
        choices: dict[str, list[Any]] = {
            "interval": ["1 hour", 60, "178000000 years", "infinity", "-1 day", "x", 1e300],
            "boolean": [True, False],
            "text[]": [["Site"], [], ["CPUTime", "Site"], "Site", [None], [["a"]]],
            "text": ["documented", "dirac", "groups", "global", "panda2026", "running", "lifecycle.condition_paused"],
            "jsonb": [{}, {"as": "x"}, {"best": 3}, {"wait": "1 hour"}, []],
        }
        return self.rng.choice(choices.get(kind, [1, 0, 5000, -1, 2**31, 0.5]))


def some(rng: Random, keys: dict[str, Any]) -> dict[str, Any]:
    """Some of the keys."""
    return {key: found for key, found in keys.items() if rng.random() < 0.3}


def array(found: Sequence[str | None]) -> str:
    """A list as PostgreSQL writes an array."""
    quoted = ('"' + one.replace("\\", "\\\\").replace('"', '\\"') + '"' if one is not None else "NULL" for one in found)
    return "{" + ",".join(quoted) + "}"
