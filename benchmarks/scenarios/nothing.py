"""The answer to a resource that matches nothing, beside the answer to a resource that gets a job."""

from benchmarks.bench import SEED, Bench, loading
from benchmarks.measure import Kind, by_clients
from benchmarks.options import Options, Say
from benchmarks.report import Row, Table
from benchmarks.scenarios.match import described
from benchmarks.server import Server
from broker.errors import BrokerError
from broker.laboratory.pilots import Resource

DEFAULTS = Options(jobs=1_000_000, clients=(1, 8))
_LOOKED_AT = 2_000  # requests: enough that some match nothing


def run(server: Server, options: Options, say: Say) -> list[Table]:
    """Two sorts of the workload's requests in turn: requests that find a job, and requests that find none."""
    with loading(server, options, say) as bench:
        something, nothing = sorted_out(bench, _LOOKED_AT)
        bench.set_requests([*something, *nothing])
        split = len(something)
        kinds = [
            Kind("finds a job", bench, last=split, per_call=True),
            Kind("finds nothing", bench, first=split + 1, per_call=True),
        ]
        rows = [_costs_of_calls(row) for row in by_clients(kinds, options, say, "p99_ms")]
        return [Table(f"{described(bench)}; medians of {options.rounds} rounds; ratio: of p99", rows)]


def sorted_out(bench: Bench, count: int) -> tuple[list[Resource], list[Resource]]:
    """Two lists of the first requests of the workload: requests that match a job now, and requests that match none.

    Raises BrokerError if one of the two lists is empty.
    """
    something: list[Resource] = []
    nothing: list[Resource] = []
    for request in bench.workload.requests(SEED)[:count]:
        (something if bench.matches(request) else nothing).append(request)
    if not something or not nothing:
        raise BrokerError("the requests all match, or none does", "take more jobs: --jobs")
    return something, nothing


def _costs_of_calls(row: Row) -> Row:
    renamed = {"wal_bytes": "WAL bytes/call", "cpu_ms": "server CPU ms/call", "buffers": "buffers/call"}
    return {renamed.get(key, key): value for key, value in row.items() if key != "jobs_per_s"}
