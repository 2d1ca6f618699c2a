"""Which tests touch which functions: measured once, kept in build/mutation/touched.json.

PostgreSQL counts the calls of functions (track_functions = all), but not those of SQL functions that it plans into
their callers. So each SQL function gets a setting for the measurement, which prevents this. A call that raises is
not counted either; the context of the error names its function.
"""

import json
import time
from dataclasses import asdict, dataclass
from pathlib import Path

import psycopg

from tests.laboratory.mutation import session
from tests.laboratory.mutation.session import Bench

ROOT = Path(__file__).resolve().parents[3]
MAP = ROOT / "build" / "mutation" / "touched.json"
FOLDERS = ("brokerage", "taskqueue", "properties", "lifecycle", "instance", "client", "concurrency")

# Any setting keeps a function from being planned into its caller; this one changes no plan.
_EACH = """
  do $do$ declare f record; begin
    for f in select p.oid::regprocedure as name from pg_proc p join pg_language l on l.oid = p.prolang
              where l.lanname = 'sql' and p.prokind = 'f' and p.pronamespace::regnamespace::text in
                    ('resource', 'workload', 'brokerage', 'taskqueue', 'lifecycle', 'instance', 'monitor')
    loop execute format('alter function %s {}', f.name); end loop;
  end $do$
"""
_CALLS = """
  select schemaname || '.' || funcname, calls from pg_stat_user_functions
   where schemaname in ('resource', 'workload', 'brokerage', 'taskqueue', 'lifecycle', 'instance', 'monitor')
"""


@dataclass
class Touch:
    """A test: its text, its seconds, whether it passes without a mutant, and the functions that it calls."""

    text: str
    seconds: float
    passed: bool
    functions: list[str]


def read() -> dict[str, Touch]:
    """The map from each test to the functions that it touches."""
    if not MAP.exists():
        return {}
    return {name: Touch(**values) for name, values in json.loads(MAP.read_text(encoding="utf-8")).items()}


def write(found: dict[str, Touch]) -> None:
    """Store the map."""
    MAP.parent.mkdir(parents=True, exist_ok=True)
    lines = [f"{json.dumps(name)}: {json.dumps(asdict(touch))}" for name, touch in sorted(found.items())]
    MAP.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")


def merge(found: dict[str, Touch]) -> None:
    """Store the entries of these tests beside the others of the map."""
    write(read() | found)


def measure(bench: Bench) -> dict[str, Touch]:
    """The map of the tests of a session; new tests and tests whose text has changed are measured first."""
    found = read()
    new = [name for name in bench.items if name not in found or found[name].text != bench.text(name)]
    if new:
        with session.admin() as connection:
            connection.execute("alter system set track_functions = 'all'")
            connection.execute("select pg_reload_conf()")
        for database in (bench.template, bench.shared):
            bench.execute(database, [_EACH.format("set enable_tidscan = on")])
        try:
            _measure(bench, new, found)
        finally:
            merge(found)
            for database in (bench.template, bench.shared):
                bench.execute(database, [_EACH.format("reset enable_tidscan")])
            with session.admin() as connection:
                connection.execute("alter system reset track_functions")
                connection.execute("select pg_reload_conf()")
    return {name: found[name] for name in bench.items}


def update(bench: Bench) -> None:
    """Bring the map up to date."""
    measure(bench)


def _measure(bench: Bench, names: list[str], found: dict[str, Touch]) -> None:
    kept = bench.databases()
    before = _calls(bench.shared)
    objects: dict[str, set[str]] = {}
    for path in (ROOT / "sql").rglob("*.sql"):
        objects.setdefault(path.stem, set()).add(f"{path.relative_to(ROOT / 'sql').parts[0]}.{path.stem}")
    written = time.monotonic()
    for number, name in enumerate(names, 1):
        session.raised()
        outcome = bench.run(name, limit=400)
        bench.flush()
        after = _calls(bench.shared)
        touched = {function for function, calls in after.items() if calls > before.get(function, 0)}
        before = after
        for database in bench.databases() - kept:
            touched.update(_calls(database, attempts=20))
        touched.update(*(objects.get(raising, set()) for raising in session.raised()))
        bench.forget(kept)
        if bench.clean():
            bench.execute(bench.shared, [_EACH.format("set enable_tidscan = on")])
            before = {}
        found[name] = Touch(bench.text(name), round(outcome.seconds, 2), outcome.passed, sorted(touched))
        if time.monotonic() - written > 30:
            print(f"measured {number} of {len(names)} tests", flush=True)
            merge(found)
            written = time.monotonic()


def _calls(database: str, attempts: int = 1) -> dict[str, int]:
    """The calls counted in a database, once the backends of a test have ended: a backend counts at its end."""
    with psycopg.connect(session.dsn_of(database), autocommit=True) as connection:
        for _attempt in range(attempts):
            others = connection.execute(
                "select from pg_stat_activity where datname = current_database() and backend_type = 'client backend'"
                " and pid <> pg_backend_pid()"
            ).fetchone()
            if others is None:
                break
            time.sleep(0.01)
        return dict(connection.execute(_CALLS).fetchall())
