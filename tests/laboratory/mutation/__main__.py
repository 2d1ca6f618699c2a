"""The program: `python -m tests.laboratory.mutation --help`."""

import argparse
import sys
import time
from fnmatch import fnmatch

from tests.laboratory.mutation import mutants, results, runs, session, touched


def main() -> int:
    """Run the command of the arguments."""
    parser = argparse.ArgumentParser(prog="python -m tests.laboratory.mutation", description=mutants.__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    run = commands.add_parser("run", help="run mutants that have no result, or one that is out of date")
    run.add_argument("--minutes", type=float, default=60, help="end after this many minutes (60)")
    run.add_argument("--most", type=int, default=mutants.DRAWN, help="number of drawn mutants (1000)")
    run.add_argument("--objects", default="*", help="a pattern of the objects' names: taskqueue.accepts*")
    run.add_argument("--all", action="store_true", help="all possible mutants of the objects, not only the drawn ones")
    run.add_argument("--survivors", action="store_true", help="run only survivors, and all of them again")
    run.add_argument("--seconds", type=float, default=runs.SECONDS, help="seconds for the tests of one mutant (25)")
    run.add_argument("--least", type=float, default=0, help="exit with 1 if a smaller percentage is killed (0)")
    run.add_argument("--try", dest="keep", action="store_false", help="keep no results")
    commands.add_parser("measure", help="measure which tests touch which functions; `run` also does this for new tests")
    report = commands.add_parser("report", help="figures and survivors")
    report.add_argument("--most", type=int, default=mutants.DRAWN, help="number of drawn mutants (1000)")
    report.add_argument("--objects", default="*", help="a pattern of the objects' names")
    given = parser.parse_args()
    folders = [f"tests/core/{folder}" for folder in touched.FOLDERS]
    if given.command == "measure":
        return session.run(folders, touched.update)
    if given.command == "report":
        chosen = [mutant for mutant in mutants.drawn(given.most) if fnmatch(mutant.name, given.objects)]
        figures = results.figures(chosen, results.read())
        print(figures)
        for mutant in figures.survivors:
            print(results.describe(mutant))
        return 0
    killed: list[float] = []
    ended = session.run(folders, lambda bench: killed.append(_run(bench, given)))
    return ended or int(min(killed, default=0) < given.least)


def _run(bench: session.Bench, given: argparse.Namespace) -> float:
    """Run, print the figures, and return the percentage of killed mutants."""
    until = time.monotonic() + 60 * given.minutes
    found = [one for each in mutants.possible() for one in each] if given.all else mutants.drawn(given.most)
    runner = runs.Runner(bench, given.seconds, given.keep)
    chosen = [mutant for mutant in found if fnmatch(mutant.name, given.objects)]
    if given.survivors:
        survived = {result.mutant for result in runner.results.values() if result.outcome == "survived"}
        chosen = [one for one in chosen if one.id in survived]
    equivalent = results.explained()
    asked = [one for one in chosen if (one.name, one.before, one.after) not in equivalent]
    runner.run(asked, until, again=given.survivors)
    figures = results.figures(chosen, runner.results)
    print(figures)
    return figures.percent_killed


if __name__ == "__main__":
    sys.exit(main())
