"""The program: `python -m tests.mutation --help`."""

import argparse
import sys
import time
from fnmatch import fnmatch

from tests.mutation import mutants, results, runs, session, touched


def main() -> int:
    """Read the arguments and do it."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.mutation", description=(sys.modules["tests.mutation.mutants"].__doc__)
    )
    commands = parser.add_subparsers(dest="command", required=True)
    run = commands.add_parser("run", help="run mutants that have no result, or one that is out of date")
    run.add_argument("--minutes", type=float, default=60, help="end after so many minutes (60)")
    run.add_argument("--most", type=int, default=mutants.DRAWN, help="how many are drawn (1000)")
    run.add_argument("--objects", default="*", help="a pattern of the objects' names: taskqueue.accepts*")
    run.add_argument("--all", action="store_true", help="all possible mutants of the objects, not those drawn")
    run.add_argument("--survivors", action="store_true", help="survivors alone, and all of them again")
    run.add_argument("--seconds", type=float, default=runs.SECONDS, help="how long one mutant's tests may take (25)")
    run.add_argument("--try", dest="keep", action="store_false", help="keep no results")
    commands.add_parser("measure", help="which tests touch which functions; `run` does it, too, for new tests")
    report = commands.add_parser("report", help="figures and survivors")
    report.add_argument("--most", type=int, default=mutants.DRAWN, help="how many are drawn (1000)")
    report.add_argument("--objects", default="*", help="a pattern of the objects' names")
    given = parser.parse_args()
    folders = [f"tests/{folder}" for folder in touched.FOLDERS]
    if given.command == "measure":
        return session.run(folders, touched.update)
    if given.command == "report":
        chosen = [mutant for mutant in mutants.drawn(given.most) if fnmatch(mutant.name, given.objects)]
        figures = results.figures(chosen, results.read())
        print(figures)
        for mutant in figures.survivors:
            print(results.describe(mutant))
        return 0
    return session.run(folders, lambda bench: _run(bench, given))


def _run(bench: session.Bench, given: argparse.Namespace) -> None:
    until = time.monotonic() + 60 * given.minutes
    found = [one for each in mutants.possible() for one in each] if given.all else mutants.drawn(given.most)
    runner = runs.Runner(bench, given.seconds, given.keep)
    chosen = [mutant for mutant in found if fnmatch(mutant.name, given.objects)]
    if given.survivors:
        survived = {result.mutant for result in runner.results.values() if result.outcome == "survived"}
        known = {(entry.object, entry.before, entry.after) for entry in results.equivalents()}
        chosen = [one for one in chosen if one.id in survived and (one.name, one.before, one.after) not in known]
    runner.run(chosen, until, again=given.survivors)
    print(results.figures(chosen, runner.results))


if __name__ == "__main__":
    sys.exit(main())
