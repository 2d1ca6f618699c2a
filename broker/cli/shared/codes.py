"""The exit codes of all commands, each with one meaning. Wrong usage has the code that Click gives it."""

from collections.abc import Mapping

FAILED = 1
USAGE = 2
NO_SERVER = 3
NO_MATCH = 4
FOUND = 5
INTERRUPTED = 130

CODES: Mapping[int, str] = {
    0: "done",
    FAILED: "failed or refused: an error and a hint are printed",
    USAGE: "wrong usage, such as an unknown option",
    NO_SERVER: "no server answers, or it refuses the connection",
    NO_MATCH: "no job matches",
    FOUND: "a check found a fault (doctor, check, demo ...)",
    INTERRUPTED: "interrupted by Ctrl-C",
}
"""The meaning of each code, for `broker --help` and the reference."""
