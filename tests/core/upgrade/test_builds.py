"""The release as it is: a fresh install passes its check, is removed and made again, is backed up and restored."""

import re
import subprocess
from pathlib import Path

import psycopg
import pytest

from broker.server import binaries
from broker.server.binaries import Installation
from broker.upgrade import Program, check, downgrade, upgrade
from broker.upgrade.revisions import comments
from broker.upgrade.roles import Roles
from broker.upgrade.source import SCHEMAS
from broker.upgrade.state import State, read
from tests.calls import Calls

_CODE = re.compile(r"create\s+(or\s+replace\s+)?(function|procedure|view|(constraint\s+)?trigger)\b", re.IGNORECASE)


def catalogue(dsn: str) -> tuple[State, list[tuple[object, ...]]]:
    """The catalogue, and the order of the columns, which the catalogue's words leave out. Partitions by day are left
    out, too: an upgrade makes those of the days ahead."""
    with psycopg.connect(dsn) as conn:
        conn.execute("set search_path = pg_catalog")
        state = read(conn.cursor(), Roles("broker_"))
        columns = conn.execute(
            "select attrelid::regclass::text, attname from pg_attribute a join pg_class c on c.oid = attrelid"
            " where pg_get_userbyid(relowner) = 'broker_owner' and attnum > 0 and not attisdropped"
            "   and relkind not in ('i', 'I', 't') and relname !~ '_[0-9]{8}$'"
            " order by attrelid::regclass::text, attnum"
        ).fetchall()
    return state, columns


@pytest.mark.slow
def test_a_downgrade_and_upgrade_restore_the_same_catalogue(dsn: str) -> None:
    before = catalogue(dsn)
    downgrade(dsn, "base")
    upgrade(dsn)
    assert catalogue(dsn) == before
    assert check(dsn).ok


@pytest.mark.representative
def test_a_fresh_install_has_no_differences_from_the_release(dsn: str) -> None:
    assert check(dsn).differences == ()
    assert not upgrade(dsn).changed


@pytest.mark.slow
@pytest.mark.parametrize(
    "statement, aspect",
    [
        ("drop table taskqueue.task_queue_tag", "existence"),
        ("alter table taskqueue.task_queue_requirement detach partition taskqueue.task_queue_tag", "definition"),
        ("comment on table taskqueue.task_queue_tag is null", "comment"),
    ],
)
def test_a_check_names_a_changed_partition_by_list(dsn: str, statement: str, aspect: str) -> None:
    with psycopg.connect(dsn) as conn:
        conn.execute(statement.encode())
    assert ("table taskqueue.task_queue_tag", aspect) in {
        (difference.item, difference.aspect) for difference in check(dsn).differences
    }


@pytest.mark.slow
def test_a_restored_backup_has_no_differences_from_the_release(dsn: str, empty_dsn: str, tmp_path: Path) -> None:
    """pg_dump and pg_restore of the server's own version, as broker/docs/how-to/back-up.md shows them."""
    programs = _programs_of(dsn)
    for command in (
        ["pg_dump", "--format=custom", f"--file={tmp_path}/broker.dump", f"--dbname={dsn}"],
        ["pg_restore", "--single-transaction", "--exit-on-error", f"--dbname={empty_dsn}", f"{tmp_path}/broker.dump"],
    ):
        subprocess.run([programs.program(command[0]), *command[1:]], check=True)
    assert check(empty_dsn).differences == ()
    assert not upgrade(empty_dsn).changed


@pytest.mark.slow
def test_another_major_version_of_the_server_is_a_difference_until_an_upgrade(dsn: str) -> None:
    """After pg_upgrade, or a restore on a newer server, definitions may be worded differently."""
    with psycopg.connect(dsn) as conn:
        conn.execute("update resource.installation set server_major = 14")
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
    """Replaceable objects live in sql/, and an old revision must still do the same in ten years."""
    text = path.read_text(encoding="utf-8").lower()
    assert not _CODE.search(text)
    assert not re.search(r"package_folder|read_text|open\(|import.*pathlib", text)
    # The id is the name of the file, and fits into alembic_version.
    assert f'revision = "{path.stem}"' in text and len(path.stem) <= 32


@pytest.mark.parametrize("path", sorted((Program().migrations / "baseline").glob("*.sql")), ids=lambda path: path.stem)
def test_the_baseline_holds_tables_of_its_schema(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert not _CODE.search(text)
    assert path.stem in {*SCHEMAS, "names", "comments"}
    assert set(re.findall(r"^create (?:unlogged )?(?:table|type|sequence) (\w+)\.", text, re.MULTILINE)) <= {path.stem}
    assert [line for line in text.splitlines() if len(line) > 120] == []


def test_the_texts_of_the_baseline_become_comments() -> None:
    text = """
        -- A remark, and no words.
        --: Jobs that wait,
        --: by id.
        create unlogged table taskqueue.a (
          job_id bigint,  --: Job's id.
          --: Its state.
          state  text not null
            check (state <> ''),
          free   int,
          primary key (job_id)
        );
        create index a_state on taskqueue.a (state);
        --: Jobs of one kind.
        create table taskqueue.c partition of taskqueue.b
          for values in ('c');
        create type taskqueue.b as (
          n int  --: Number.
        );
    """
    assert list(comments(text)) == [
        ("table taskqueue.a", "Jobs that wait, by id."),
        ("column taskqueue.a.job_id", "Job's id."),
        ("column taskqueue.a.state", "Its state."),
        ("table taskqueue.c", "Jobs of one kind."),
        ("column taskqueue.b.n", "Number."),
    ]


@pytest.mark.slow
def test_a_database_with_data_survives_new_code(dsn: str) -> None:
    """Every file of sql/ counts as changed since the last upgrade."""
    with psycopg.connect(dsn, autocommit=True) as conn:
        q = Calls(conn)
        for n in range(1, 11):
            q.insert(n, n % 10, JobTypes=[f"T{n}"], OwnerDN=f"owner {n % 3}")
        before, first = catalogue(dsn), q.take().job_id
        conn.execute("update resource.installed_object set sha256 = 'of an older release'")
        assert len(upgrade(dsn).written) > 500
        assert catalogue(dsn) == before
        assert q.inconsistencies() == []
        assert {first, *(q.take().job_id for _ in range(9))} == set(range(1, 11))
    assert check(dsn).ok
