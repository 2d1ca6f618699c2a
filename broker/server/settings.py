"""The embedded server's settings, each with its reason."""

import os
from collections.abc import Mapping
from pathlib import Path

from broker.server.account import Account

_CONF = """\
# Settings of pgbroker's embedded server, written at each start. ALTER SYSTEM overrides them.

# Only this machine can reach the server, with the password.
listen_addresses = '127.0.0.1'

# A leased job stays leased, whatever fails.
fsync = on
synchronous_commit = on
full_page_writes = on

# Hundreds of agents come through a pool, or each with a connection of its own. The login of the programs has 180.
max_connections = 200

# A client that was killed must not keep its locks until its statement ends.
client_connection_check_interval = 1s

# A million waiting jobs with their indexes fit; an eighth of the memory on smaller machines, as agents run here too.
shared_buffers = {buffers}MB

# Fewer, smoother checkpoints: a full page image follows each, and queues change the same pages all the time.
max_wal_size = 4GB
min_wal_size = 256MB
checkpoint_timeout = 15min
wal_compression = on

# The data is in memory or on an SSD: indexes are cheap to read.
random_page_cost = 1.1

# Calls take less than a millisecond; compiling one takes a hundred, and starting parallel workers takes ten.
jit = off
max_parallel_workers_per_gather = 0

# All rows of queue tables are replaced over time; clean them before dead rows slow down a match.
autovacuum_naptime = 10s
autovacuum_vacuum_cost_delay = 0

# monitor.function_time shows which functions take the time; a match takes no longer.
track_functions = pl

# Errors of single statements are not logged: an agent that repeats a refused call must not fill the disk.
log_min_messages = log
log_checkpoints = off
log_line_prefix = '%m [%p] '
"""


def write_settings(data: Path, account: Account, settings: Mapping[str, str]) -> None:
    """Write pgbroker.conf, which postgresql.conf includes: the settings below, then those given."""
    lines = [_CONF.format(buffers=_shared_buffers_mb())]
    for name, value in settings.items():
        quoted = value.replace("'", "''")
        lines.append(f"{name} = '{quoted}'")
    account.write(data, "pgbroker.conf", "\n".join(lines) + "\n")


def _shared_buffers_mb() -> int:
    """An eighth of the memory, between 64 and 512 MB."""
    total = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    limit = Path("/sys/fs/cgroup/memory.max")  # the limit of a container; "max" if there is none
    if limit.is_file() and (text := limit.read_text().strip()).isdigit():
        total = min(total, int(text))
    return max(64, min(512, total // 8 // 2**20))
