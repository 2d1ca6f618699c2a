"""The house as it is: built fresh and built up from the first revision it is the same, and schema.sql shows it."""

import os
import re
import shutil
import subprocess
from pathlib import Path

import psycopg
import pytest

from broker import world
from broker.errors import BrokerError
from broker.server import binaries
from broker.server.binaries import Installation
from broker.upgrade import Program, check, downgrade, schema, upgrade
from broker.upgrade.roles import Roles
from broker.upgrade.source import parse_files
from broker.upgrade.state import State, read
from tests.calls import Calls


def catalogue(dsn: str) -> tuple[State, list[tuple[object, ...]]]:
    """The catalogue, and the order of the columns, which the catalogue's words leave out."""
    with psycopg.connect(dsn) as conn:
        conn.execute("set search_path = pg_catalog")
        state = read(conn.cursor(), Roles("broker_"))
        columns = conn.execute(
            "select attrelid::regclass::text, attname from pg_attribute a join pg_class c on c.oid = attrelid"
            " where pg_get_userbyid(relowner) = 'broker_owner' and attnum > 0 and not attisdropped"
            "   and relkind not in ('i', 'I', 't')"
            " order by attrelid::regclass::text, attnum"
        ).fetchall()
    return state, columns


def as_of(revision: str, folder: Path) -> Program:
    """The program as it was released with a revision: the revisions up to it, and the code frozen with it."""
    now = Program()
    migrations = folder / "migrations"
    (migrations / "versions").mkdir(parents=True)
    shutil.copy(now.migrations / "env.py", migrations)
    for name in now.chain[: now.chain.index(revision) + 1]:
        [file] = (now.migrations / "versions").glob(f"{name}_*.py")
        shutil.copy(file, migrations / "versions")
    if revision == now.head:
        shutil.copytree(now.sql, folder / "sql")
        return Program(folder / "sql", migrations)
    release, files = now.frozen(revision) if now.frozen_path(revision).is_file() else (now.release, {})
    for path, text in {"roles.sql": "", **files}.items():
        (folder / "sql" / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / "sql" / path).write_text(text)
    return Program(folder / "sql", migrations, release)


@pytest.mark.parametrize("revision", [name for name in Program().chain if name != "0000"])
def test_a_database_with_data_becomes_what_a_fresh_one_is(
    dsn: str, empty_dsn: str, tmp_path: Path, revision: str
) -> None:
    upgrade(empty_dsn, program=as_of("0000", tmp_path / "first"))
    upgrade(empty_dsn, program=as_of(revision, tmp_path / "then"))
    with psycopg.connect(empty_dsn) as conn:
        conn.execute("insert into resource.setup (setup) values ('kept') on conflict do nothing")
    upgrade(empty_dsn)
    assert catalogue(empty_dsn) == catalogue(dsn)
    assert check(empty_dsn).ok
    with psycopg.connect(empty_dsn) as conn:
        assert conn.execute("select count(*) from resource.setup where setup = 'kept'").fetchone() == (1,)


def test_ids_of_submitters_in_the_range_of_brokered_jobs_stay_theirs(empty_dsn: str, tmp_path: Path) -> None:
    upgrade(empty_dsn, program=as_of("0007", tmp_path))
    with psycopg.connect(empty_dsn, autocommit=True) as conn:
        q = Calls(conn)
        q.insert(1_700_000_000_000)
        upgrade(empty_dsn)
        assert q.take().job_id == 1_700_000_000_000
        assert q.value("select nextval('workload.job_id')") == 1_700_000_000_001


def test_queues_that_were_there_before_the_upgrade_have_their_weights_summed_up(empty_dsn: str, tmp_path: Path) -> None:
    upgrade(empty_dsn, program=as_of("0001", tmp_path))
    with psycopg.connect(empty_dsn, autocommit=True) as conn:
        q = Calls(conn)
        for n in range(1, 31):
            q.insert(n, n % 10, JobTypes=[f"T{n}"], OwnerDN=f"owner {n % 3}")
        upgrade(empty_dsn)
        assert q.inconsistencies() == []
        assert q.value("select sum(queues) from taskqueue.owner_weight") == 30


def test_a_downgrade_leaves_private_pilots_their_owners_jobs_only(dsn: str) -> None:
    """Descriptions known to 0002 leave the owner to the draw, where 0001 does not look at it."""
    with psycopg.connect(dsn, autocommit=True) as conn:
        q = Calls(conn)
        q.insert_many(range(1, 4), 1, OwnerDN="one", OwnerGroup="g")
        q.insert_many(range(11, 14), 1, OwnerDN="other", OwnerGroup="h")
        mine = {"Site": "A", "OwnerDN": "one", "OwnerGroup": "g", "PilotType": "private"}
        assert q.match(**mine)
    downgrade(dsn, "0001")
    with psycopg.connect(dsn, autocommit=True) as conn:
        q = Calls(conn)
        assert {match.job_id for match in q.match_many(6, **mine)} < {1, 2, 3}
    upgrade(dsn)


def test_the_kind_of_a_resource_moves_to_its_column_and_back(dsn: str) -> None:
    """Before 0006 it was among the fields that nothing reads."""
    query = "select queue, to_jsonb(q) -> 'resource_type', cric from resource.queue q order by queue"
    with psycopg.connect(dsn, autocommit=True) as conn:
        world.load(conn, [{"queues": {"A": {"resource_type": "hpc", "other": 1}, "B": {}}}], "w", lenient=True)
        now = conn.execute(query).fetchall()
        assert now == [("A", "hpc", {"other": 1}), ("B", None, {})]
    downgrade(dsn, "0005")
    with psycopg.connect(dsn, autocommit=True) as conn:
        assert conn.execute(query).fetchall() == [("A", None, {"resource_type": "hpc", "other": 1}), ("B", None, {})]
    upgrade(dsn)
    with psycopg.connect(dsn, autocommit=True) as conn:
        assert conn.execute(query).fetchall() == now


def test_down_and_up_again_is_what_it_was(dsn: str) -> None:
    before = catalogue(dsn)
    downgrade(dsn, "0000")
    upgrade(dsn)
    assert catalogue(dsn) == before
    downgrade(dsn, "base")
    upgrade(dsn)
    assert catalogue(dsn) == before
    assert check(dsn).ok


def test_a_fresh_install_is_what_the_release_says(dsn: str) -> None:
    assert check(dsn).differences == ()
    assert not upgrade(dsn).changed


def test_frozen_code_can_be_used() -> None:
    """A frozen file that nobody can use, or that no longer reads, would only be found by the first downgrade."""
    program = Program()
    folder = program.migrations / "releases"
    for path in folder.glob("*.sql") if folder.is_dir() else []:
        assert path.stem in program.chain
        assert parse_files(program.frozen(path.stem)[1])


def test_schema_sql_is_current(server_dsn: str) -> None:
    programs = binaries.find()
    with psycopg.connect(server_dsn) as conn:
        major = conn.info.server_version // 10000
    if (major, programs.major) != (schema.MAJOR, schema.MAJOR):
        if os.environ.get("BROKER_TEST_DSN") or os.environ.get("BROKER_TEST_SERVER"):
            pytest.skip(f"schema.sql is written by PostgreSQL {schema.MAJOR}, this server is {major}")
        raise BrokerError(f"the embedded server is PostgreSQL {major}: pin schema.MAJOR to it and write schema.sql")
    text = schema.render(server_dsn, programs)
    assert text == schema.path().read_text(encoding="utf-8"), "stale: run `broker db schema --write`"
    assert "restrict" not in text.replace("ON DELETE RESTRICT", "").lower() or "\\restrict" not in text
    # Whoever writes it gets the same.
    assert text == schema.render(server_dsn, programs)


def test_a_restored_backup_is_what_the_release_says(dsn: str, empty_dsn: str, tmp_path: Path) -> None:
    """pg_dump and pg_restore of the server's own version, as migrations/README.md shows them."""
    programs = _programs_of(dsn)
    for command in (
        ["pg_dump", "--format=custom", f"--file={tmp_path}/broker.dump", f"--dbname={dsn}"],
        ["pg_restore", "--single-transaction", "--exit-on-error", f"--dbname={empty_dsn}", f"{tmp_path}/broker.dump"],
    ):
        subprocess.run([programs.program(command[0]), *command[1:]], check=True)
    assert check(empty_dsn).differences == ()
    assert not upgrade(empty_dsn).changed


def test_another_major_version_of_the_server(dsn: str) -> None:
    """After pg_upgrade, or a restore on a newer server, definitions may be worded differently."""
    with psycopg.connect(dsn) as conn:
        conn.execute("update resource.house set server_major = 14")
        conn.execute("update resource.installed_state set value = 'other words' where aspect = 'definition'")
        conn.execute("comment on table resource.setup is 'x'")
    found = check(dsn).differences
    assert {(difference.item, difference.aspect) for difference in found} == {
        ("database", "server"),
        ("table resource.setup", "comment"),
    }
    upgrade(dsn)
    assert [(difference.item, difference.aspect) for difference in check(dsn).differences] == [
        ("table resource.setup", "comment")
    ]


def _programs_of(dsn: str) -> Installation:
    """pg_dump and pg_restore of the server's own major version."""
    with psycopg.connect(dsn) as conn:
        major = conn.info.server_version // 10000
    for programs in (binaries.find(), Installation(Path(f"/usr/lib/postgresql/{major}/bin"), major)):
        if programs.major == major and (programs.bin / "pg_dump").is_file():
            return programs
    pytest.skip(f"no pg_dump of PostgreSQL {major} here")


@pytest.mark.parametrize("path", sorted((Program().migrations / "versions").glob("*.py")), ids=lambda path: path.stem)
def test_revisions_hold_no_code_and_never_read_todays_sql(path: Path) -> None:
    """What can be replaced lives in sql/, and an old revision must do in ten years what it did on its day."""
    text = path.read_text(encoding="utf-8").lower()
    assert not re.search(r"create\s+(or\s+replace\s+)?(function|procedure|view|(constraint\s+)?trigger)\b", text)
    assert not re.search(r"package_folder|read_text|open\(|import.*pathlib", text)
