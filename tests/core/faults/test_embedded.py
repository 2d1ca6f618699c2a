"""The embedded server when things go wrong: killed programs, killed servers, foreign processes, closed folders."""

import fcntl
import json
import os
import random
import shutil
import signal
import socket
import stat
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import psycopg
import pytest
from typer.testing import CliRunner

from broker.cli.program import app
from broker.errors import EmbeddedError
from broker.server import account, binaries, embedded, postmaster
from broker.server.account import Account
from broker.server.binaries import Installation

UP = """
import sys; from pathlib import Path; from broker.server import embedded; print(embedded.up(Path(sys.argv[1])).dsn)
"""
KILL_SECONDS = float(os.environ.get("BROKER_TEST_KILL_SECONDS", "0"))

root_only = pytest.mark.skipif(os.geteuid() != 0, reason="only root has a uid to drop")
proc_only = pytest.mark.skipif(not Path("/proc/self/cmdline").exists(), reason="needs /proc")


@pytest.fixture
def home() -> Iterator[Path]:
    """A home that the server's uid can reach, with a short path; removed at the end, its server killed."""
    folder = _new_home()
    yield folder
    _throw_away(folder)


@pytest.fixture
def created(_created_once: Path, home: Path) -> Path:
    """A home with a server that was created and stopped: a copy, for tests of later events."""
    subprocess.run(["cp", "-a", _created_once / "cluster", home], check=True)
    return home


@pytest.fixture(scope="module")
def _created_once() -> Iterator[Path]:
    folder = _new_home()
    embedded.up(folder)
    embedded.down(folder)
    yield folder
    _throw_away(folder)


def _new_home() -> Path:
    folder = Path(tempfile.mkdtemp(prefix="broker-home-"))
    folder.chmod(0o755)
    return folder


def _throw_away(home: Path) -> None:
    """Kill the server at once, without the checkpoint of a stop: nobody reads the data again."""
    running = postmaster.running_pid(home / "cluster")
    if running:
        os.kill(running, signal.SIGQUIT)
    while postmaster.running_pid(home / "cluster"):
        time.sleep(0.01)
    shutil.rmtree(home)


def server_processes(home: Path) -> list[int]:
    """The postmasters whose data is in this home."""
    found = []
    for entry in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            arguments = entry.read_bytes().split(b"\0")
        except (FileNotFoundError, ProcessLookupError):
            continue
        if arguments[0].endswith(b"postgres") and os.fsencode(home / "cluster" / "data") in arguments:
            found.append(int(entry.parent.name))
    return found


def one(dsn: str, query: str = "select 1") -> object:
    """The one value of a query, asked over a connection of its own."""
    with psycopg.connect(dsn) as connection:
        row = connection.execute(query.encode()).fetchone()
    return row[0] if row else None


def up_refuses(home: Path, *, match: str, hint: str = "", account_name: str | None = None) -> None:
    """`up` fails with an error that matches, and with a hint that has these words."""
    with pytest.raises(EmbeddedError, match=match) as raised:
        embedded.up(home, account_name=account_name)
    assert hint in str(raised.value.hint)


def kill_server(home: Path) -> None:
    """kill -9 the postmaster, and wait until the kernel has taken it away."""
    pid = embedded.status(home).pid
    assert pid
    os.kill(pid, signal.SIGKILL)
    while postmaster.running_pid(home / "cluster"):
        time.sleep(0.01)


def foreign_process(account: Account) -> subprocess.Popen[bytes]:
    """A process of the server's uid that has nothing to do with it."""
    return subprocess.Popen(["sleep", "600"], user=account.uid, group=account.gid)


@pytest.mark.slow
def test_a_new_server_has_durable_settings_and_its_database(home: Path) -> None:
    server = embedded.up(home)
    with psycopg.connect(server.dsn) as connection:
        for setting in ("fsync", "synchronous_commit", "full_page_writes"):
            assert connection.execute(f"show {setting}").fetchone() == ("on",)
        assert connection.execute("select current_database()").fetchone() == ("broker",)
    assert one(server.socket_dsn, "select inet_server_addr()") is None


@pytest.mark.slow
def test_nobody_connects_without_the_password(created: Path) -> None:
    server = embedded.up(created)
    for dsn in (server.dsn, server.socket_dsn):
        for wrong in ("", "postgres"):
            with pytest.raises(psycopg.OperationalError, match="password"):
                psycopg.connect(dsn.replace(server.password, wrong))
    assert stat.S_IMODE((created / "cluster" / "password").stat().st_mode) == 0o600
    assert stat.S_IMODE((created / "cluster" / "data").stat().st_mode) == 0o700
    assert stat.S_IMODE((created / "cluster" / "server.log").stat().st_mode) == 0o600


@pytest.mark.slow
def test_connections_of_programs_never_keep_the_operator_out(created: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The login of programs is no superuser, and has fewer connections than the server."""
    monkeypatch.setattr(embedded, "_CONNECTIONS", 3)
    server = embedded.up(created)
    with ExitStack() as opened:
        taken = [opened.enter_context(psycopg.connect(server.dsn)) for _ in range(3)]
        rows = taken[0].execute("select rolsuper from pg_roles where rolname = current_user").fetchall()
        assert rows == [(False,)]
        with pytest.raises(psycopg.OperationalError, match="too many connections for role"):
            psycopg.connect(server.dsn)
        assert embedded.up(created) == server
        monkeypatch.setenv("BROKER_HOME", str(created))
        monkeypatch.delenv("BROKER_DSN", raising=False)
        shown = CliRunner().invoke(app, ["status", "--json"])
        found = json.loads(shown.stdout)
        assert (shown.exit_code, found["answers"]) == (0, True)
        assert "user=broker" in found["dsn"] and server.password not in shown.output


@pytest.mark.slow
def test_the_login_of_programs_may_act_as_a_role_that_it_made(created: Path) -> None:
    """The pages on identities try a pilot's role with SET ROLE."""
    with psycopg.connect(embedded.up(created).dsn, autocommit=True) as connection:
        connection.execute("create role pilot_of_a_page login")
        connection.execute("set role pilot_of_a_page")
        assert connection.execute("select current_user").fetchone() == ("pilot_of_a_page",)


@pytest.mark.slow
def test_the_statement_of_a_killed_client_ends_soon(created: Path) -> None:
    """Locks of the statement must not outlive the client until the statement ends by itself."""
    server = embedded.up(created)
    call = "import psycopg, sys; psycopg.connect(sys.argv[1]).execute('create table held (); select pg_sleep(600)')"
    client = subprocess.Popen([sys.executable, "-c", call, server.dsn])
    with psycopg.connect(server.dsn, autocommit=True) as watcher:
        asleep = "select count(*) from pg_stat_activity where wait_event = 'PgSleep'"
        while watcher.execute(asleep).fetchone() != (1,):
            time.sleep(0.05)
        client.kill()
        client.wait()
        deadline = time.monotonic() + 30
        while watcher.execute(asleep).fetchone() != (0,):
            assert time.monotonic() < deadline
            time.sleep(0.1)


@pytest.mark.slow
def test_a_restart_keeps_port_password_and_data(created: Path) -> None:
    before = embedded.up(created)
    with psycopg.connect(before.dsn) as connection:
        connection.execute("create table kept ()")
    assert embedded.down(created)
    assert embedded.status(created).state == "stopped"
    assert not embedded.down(created)
    assert embedded.up(created) == before
    assert one(before.dsn, "select to_regclass('kept')::text") == "kept"


@pytest.mark.thorough
@proc_only
def test_a_server_that_does_not_stop_is_stopped_at_once(created: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The server waits for one of its processes, as PostgreSQL 18 does after a backend was killed; nothing is lost."""
    monkeypatch.setattr(postmaster, "_STOP_SECONDS", 10)
    with psycopg.connect(embedded.up(created).superuser_dsn(), autocommit=True) as db:
        db.execute("create table kept (n int); insert into kept values (1)")
        [(checkpointer,)] = db.execute(
            "select pid from pg_stat_activity where backend_type = 'checkpointer'"
        ).fetchall()
    os.kill(checkpointer, signal.SIGSTOP)
    assert embedded.down(created)
    assert embedded.status(created).state == "stopped"
    with psycopg.connect(embedded.up(created).superuser_dsn()) as db:
        assert db.execute("select n from kept").fetchall() == [(1,)]


@pytest.mark.slow
@proc_only
def test_many_programs_at_once_start_one_server(home: Path) -> None:
    programs = [subprocess.Popen([sys.executable, "-c", UP, home], stdout=subprocess.PIPE, text=True) for _ in range(6)]
    dsns = {program.communicate(timeout=120)[0] for program in programs}
    assert [program.returncode for program in programs] == [0] * 6
    assert len(dsns) == 1
    assert len(server_processes(home)) == 1


@pytest.mark.slow
@proc_only
def test_a_first_start_killed_at_any_moment_is_repaired_by_the_next(home: Path) -> None:
    """The start is killed once in each of its parts; BROKER_TEST_KILL_SECONDS makes more parts."""
    parts = max(4, int(KILL_SECONDS / 10))
    chance = random.Random(1)
    for part in range(parts):
        moment = (part + chance.random()) / parts
        program = subprocess.Popen([sys.executable, "-c", UP, home], stdout=subprocess.PIPE, start_new_session=True)
        time.sleep(0.1 + 0.6 * moment)  # the import alone takes 0.1 s, the whole start about 0.6 s
        program.kill()
        program.communicate()
        server = embedded.up(home)
        assert one(server.dsn, "select current_database()") == "broker"
        assert len(server_processes(home)) == 1
        assert not list(home.glob("cluster.new-*"))
        embedded.down(home)
        shutil.rmtree(home / "cluster")


@pytest.mark.slow
def test_a_server_outlives_the_program_that_started_it(created: Path) -> None:
    dsn = subprocess.run([sys.executable, "-c", UP, created], capture_output=True, text=True, check=True).stdout.strip()
    assert one(dsn) == 1


@pytest.mark.representative
@proc_only
def test_a_killed_server_keeps_all_commits(created: Path) -> None:
    server = embedded.up(created)
    with psycopg.connect(server.dsn, autocommit=True) as connection:
        connection.execute("create table kept (n int)")
        for number in range(1, 4):
            connection.execute("insert into kept values (%s)", [number])
            kill_server(created)
            assert embedded.status(created).state == "stopped"
            connection.close()
            connection = psycopg.connect(embedded.up(created).dsn, autocommit=True)  # noqa: PLW2901
            assert connection.execute("select count(*) from kept").fetchone() == (number,)
        connection.close()


@pytest.mark.slow
@proc_only
def test_a_start_waits_for_children_of_a_killed_server(created: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    server = embedded.up(created)
    busy = psycopg.connect(server.dsn, autocommit=True)
    pid = busy.info.backend_pid

    def work() -> None:
        with pytest.raises(psycopg.OperationalError):
            busy.execute("do $$ begin loop end loop; end $$")  # checks for no interrupt, so it misses the server's end

    thread = threading.Thread(target=work)
    thread.start()
    with psycopg.connect(server.dsn) as watcher:
        while watcher.execute("select state from pg_stat_activity where pid = %s", [pid]).fetchone() != ("active",):
            watcher.rollback()
    kill_server(created)
    monkeypatch.setattr(postmaster, "_ORPHAN_SECONDS", 0.5)
    up_refuses(created, match=f"still work on the data: {pid}", hint="kill")
    monkeypatch.undo()
    threading.Timer(1, os.kill, [pid, signal.SIGTERM]).start()
    with psycopg.connect(embedded.up(created).dsn) as connection:  # waits until that backend is gone
        assert connection.execute("select 1").fetchone() == (1,)
    thread.join()


@pytest.mark.slow
def test_data_used_by_a_server_of_another_container_is_refused(created: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(postmaster, "_ORPHAN_SECONDS", 0.2)
    with (created / "cluster" / "in-use").open() as held:  # as that server would; its process id is unknown here
        fcntl.flock(held, fcntl.LOCK_EX)
        up_refuses(created, match="not of this container")
    embedded.up(created)


@pytest.mark.slow
@proc_only
def test_a_stale_process_id_of_a_foreign_process_is_ignored(created: Path) -> None:
    server = embedded.up(created)
    kill_server(created)
    foreign = foreign_process(account.of(created))
    try:
        file = created / "cluster" / "data" / "postmaster.pid"
        lines = file.read_text().splitlines()
        file.write_text("\n".join([str(foreign.pid), *lines[1:]]) + "\n")
        for lock in (created / "cluster" / "socket").glob("*.lock"):
            lock.write_text("\n".join([str(foreign.pid), *lock.read_text().splitlines()[1:]]) + "\n")
        assert embedded.status(created).state == "stopped"
        assert not embedded.down(created)
        assert embedded.up(created) == server
        assert embedded.down(created)
        assert foreign.poll() is None
    finally:
        foreign.kill()
        foreign.wait()


@pytest.mark.slow
def test_a_taken_port_is_replaced_by_a_free_one(created: Path) -> None:
    before = embedded.up(created)
    embedded.down(created)
    with socket.create_server(("127.0.0.1", before.port)):
        after = embedded.up(created)
        assert after.port != before.port
        assert after.note and f"port {before.port} is taken" in after.note and str(after.port) in after.note
        assert embedded.up(created).note is None
        assert one(after.dsn) == 1


@pytest.mark.slow
def test_a_foreign_server_on_the_port_does_not_learn_the_password(created: Path) -> None:
    server = embedded.up(created)
    embedded.down(created)
    heard = b""

    def ask_for_the_password(listener: socket.socket) -> None:
        nonlocal heard
        listener.settimeout(0.2)
        while not done.is_set():
            try:
                client, _ = listener.accept()
            except TimeoutError:
                continue
            with client:
                client.settimeout(2)
                while data := client.recv(4096):
                    heard += data
                    startup = data[4:8] == b"\x00\x03\x00\x00"
                    client.sendall(b"R\x00\x00\x00\x08\x00\x00\x00\x03" if startup else b"N")

    done = threading.Event()
    with socket.create_server(("127.0.0.1", server.port)) as listener:
        thread = threading.Thread(target=ask_for_the_password, args=[listener])
        thread.start()
        try:
            assert not postmaster.answers(server.superuser_dsn(), created / "cluster")
        finally:
            done.set()
            thread.join()
    assert b"postgres" in heard
    assert server.password.encode() not in heard


@pytest.mark.slow
def test_half_a_cluster_left_by_a_killed_start_is_removed(home: Path) -> None:
    (home / "cluster.new-x" / "data").mkdir(parents=True)
    embedded.up(home)
    assert sorted(path.name for path in home.iterdir() if path.name != "binaries") == ["cluster", "lock"]


@pytest.mark.slow
def test_a_server_that_cannot_start_says_why(created: Path) -> None:
    with (created / "cluster" / "data" / "postgresql.conf").open("a") as conf:
        conf.write("max_connections = many\n")
    up_refuses(created, match=r'did not start: invalid value .*"max_connections": "many"', hint="server.log")


def test_data_of_another_major_version_is_refused(created: Path) -> None:
    version = created / "cluster" / "data" / "PG_VERSION"
    version.write_text("13\n")
    up_refuses(created, match="PostgreSQL 13", hint="BROKER_HOME")


@pytest.mark.slow
def test_a_home_with_a_path_too_long_for_a_socket_works(home: Path) -> None:
    deep = home / ("d" * 60) / ("e" * 60)
    server = embedded.up(deep)
    try:
        assert len(str(server.socket_folder)) < 90
        assert one(server.socket_dsn) == 1
    finally:
        embedded.down(deep)
        shutil.rmtree(server.socket_folder)


def test_a_socket_folder_of_another_account_is_refused(created: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = created / "sockets"
    folder.mkdir()
    folder.chmod(0o777)
    monkeypatch.setattr(embedded, "socket_folder", lambda home, account: folder)
    up_refuses(created, match="is not a folder that only uid")


def test_a_folder_that_cannot_be_written_is_refused(home: Path) -> None:
    (home / "file").touch()
    up_refuses(home / "file" / "below", match="cannot write to")


@pytest.mark.parametrize("name", ["cluster", "cluster/password", "cluster/port"])
def test_a_file_in_place_of_a_folder_is_an_error_in_two_lines(
    home: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    (home / name).parent.mkdir(exist_ok=True)
    (home / name).touch() if name == "cluster" else (home / name).mkdir()
    monkeypatch.setenv("BROKER_HOME", str(home))
    for command in ("up", "status", "dsn", "queues"):
        if (command, name) == ("status", "cluster/port"):
            continue  # its password is missing
        done = CliRunner().invoke(app, [command])
        assert (done.exit_code, done.stdout) == (1, "")
        assert [line.split(":")[0] for line in done.stderr.splitlines()] == ["error", "hint"], done.stderr
        assert str(home) in done.stderr


@pytest.mark.slow
def test_variables_of_libpq_do_not_disturb_the_embedded_server(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in {"PGDATA": "/nowhere", "PGPORT": "1", "PGHOST": "nowhere.invalid", "PGUSER": "x"}.items():
        monkeypatch.setenv(name, value)
    assert one(embedded.up(home).dsn, "select current_user") == "broker"


@pytest.mark.slow
@root_only
def test_root_runs_the_server_as_nobody_and_leaves_the_system_alone(home: Path) -> None:
    users = Path("/etc/passwd").read_bytes()
    embedded.up(home)
    pid = embedded.status(home).pid
    assert Path(f"/proc/{pid}").stat().st_uid == account.of(home).uid != 0
    assert stat.S_IMODE(home.stat().st_mode) == 0o755
    assert Path("/etc/passwd").read_bytes() == users


@pytest.mark.slow
@root_only
@pytest.mark.parametrize("name", ["pgbroker.conf.new", "pgbroker.conf", "postmaster.pid.new", "postmaster.pid"])
def test_root_follows_no_link_that_the_servers_account_made(created: Path, name: str) -> None:
    """Other daemons may share the account, and can put anything into its folders."""
    victim = created / "victim"
    victim.write_text(f"{os.getpid()}\nkept\n")
    victim.chmod(0o600)
    placed = created / "cluster" / "data" / name
    placed.unlink(missing_ok=True)
    subprocess.run(["ln", "-s", victim, placed], check=True, user="nobody")
    if name == "postmaster.pid":  # the server's own programs cannot read it
        up_refuses(created, match="Permission denied")
    else:
        assert one(embedded.up(created).dsn) == 1
        embedded.down(created)
    assert victim.read_text() == f"{os.getpid()}\nkept\n"
    assert (victim.stat().st_uid, stat.S_IMODE(victim.stat().st_mode)) == (0, 0o600)


@root_only
def test_a_pipe_or_folder_in_place_of_a_file_blocks_no_command(created: Path) -> None:
    data = created / "cluster" / "data"
    subprocess.run(["mkfifo", data / "postmaster.pid"], check=True, user="nobody")
    assert embedded.status(created).state == "stopped"
    (data / "postmaster.pid").unlink()
    subprocess.run(["mkdir", data / "pgbroker.conf.new"], check=True, user="nobody")
    up_refuses(created, match=r"cannot write .*/pgbroker\.conf")


@root_only
def test_root_trusts_no_home_that_others_write_to(created: Path) -> None:
    created.chmod(0o777)
    up_refuses(created, match="others than root can write to")


@pytest.mark.slow
@root_only
def test_the_server_runs_under_an_account_of_its_own(created: Path) -> None:
    """A new home takes the account that is named; data that exist are moved by hand."""
    with pytest.raises(EmbeddedError, match="belongs to uid 65534, not to daemon") as raised:
        embedded.up(created, account_name="daemon")
    moved = f"chown -R daemon: {created}/cluster/data {created}/cluster/socket"
    assert moved in str(raised.value.hint)
    subprocess.run(moved.split(), check=True)
    assert one(embedded.up(created, account_name="daemon").dsn) == 1
    assert Path(f"/proc/{embedded.status(created).pid}").owner() == "daemon"
    embedded.down(created)
    embedded.up(created)  # the owner of the data is known from now on
    assert Path(f"/proc/{embedded.status(created).pid}").owner() == "daemon"
    for name, said in (("nobody-like", "has no account nobody-like"), ("root", "refuses to run as root")):
        up_refuses(created / "other", account_name=name, match=said)


@root_only
def test_a_home_below_a_closed_folder_is_refused(home: Path) -> None:
    closed = home / "closed"
    closed.mkdir(mode=0o700)
    up_refuses(closed / "home", match=f"cannot pass through the folder {closed}", hint="BROKER_HOME")
    assert stat.S_IMODE(closed.stat().st_mode) == 0o700


@pytest.mark.slow
@root_only
def test_programs_below_a_closed_folder_are_copied_once(home: Path) -> None:
    closed = home / "closed"
    original = binaries.find().bin.parent
    package = closed / original.parent.name
    shutil.copytree(original, package / original.name)
    libraries = f"{package.name}.libs"
    shutil.copytree(original.parent.parent / libraries, closed / libraries)
    closed.chmod(0o700)
    hidden = Installation(package / original.name / "bin", binaries.find().major)
    server = embedded.up(home, installation=hidden)
    assert one(server.dsn) == 1
    (copy,) = (home / "binaries").iterdir()
    inode = copy.stat().st_ino
    embedded.down(home, installation=hidden)
    embedded.up(home, installation=hidden)
    assert [path.stat().st_ino for path in (home / "binaries").iterdir()] == [inode]
    assert stat.S_IMODE(closed.stat().st_mode) == 0o700


def run_as(uid: int, home: Path) -> str:
    """The result or the error of `up` in a program of another uid, which owns the home."""
    programs = binaries.reachable(binaries.find(), Account(uid, uid), home)
    os.chown(home, uid, uid)
    reader, writer = os.pipe()
    child = os.fork()  # no new Python, since other users may not read the files of this one
    if child == 0:
        try:
            os.setgroups([])
            os.setgid(uid)
            os.setuid(uid)
            os.write(writer, embedded.up(home, installation=programs).dsn.encode())
        except BaseException as error:
            os.write(writer, f"{error!r} {getattr(error, 'hint', '')}".encode())
        finally:
            os._exit(0)
    os.close(writer)
    os.waitpid(child, 0)
    with os.fdopen(reader) as said:
        return said.read()


@pytest.mark.slow
@root_only
def test_another_user_runs_a_server_as_itself(home: Path) -> None:
    uid = 65534
    assert one(run_as(uid, home)) == 1
    assert Path(f"/proc/{embedded.status(home).pid}").stat().st_uid == uid


@root_only
def test_a_user_without_a_name_learns_the_missing_variable(home: Path) -> None:
    said = run_as(31337, home)
    assert "could not look up effective user ID 31337" in said
    assert "PostgreSQL needs a user name for this uid" in said


@pytest.mark.slow
@root_only
def test_a_server_of_another_user_is_refused(created: Path) -> None:
    embedded.up(created)
    assert "belongs to another user" in run_as(65534, created)
    os.chown(created, 0, 0)


def test_a_wheel_without_programs_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    missing: Callable[[str], None] = lambda name: None  # noqa: E731
    monkeypatch.setattr("importlib.util.find_spec", missing)
    with pytest.raises(EmbeddedError, match="not installed") as raised:
        binaries.find()
    assert "BROKER_DSN" in str(raised.value.hint)
