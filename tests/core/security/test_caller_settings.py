"""A caller's settings change how PostgreSQL reads texts in a function's body, and so must not matter there."""

import pytest

from tests.calls import Connect

CALLS = [
    r"brokerage.like_text('50%_\')",
    r"brokerage.name_expression('SITE\*')",
    r"resource.pattern_problem('(a)\1')",
    "resource.pattern_problem('((.*){20}){500}')",
    "brokerage.release_of('AnalysisTransforms-AtlasProduction_17.2.7.5', 'Atlas-17.2.7', true)::text",
    "brokerage.release_of('Athena-rel_21', null, false)::text",
    "brokerage.satisfies_version('12.4.0', '>= 12.4')",
    "brokerage.policy_pattern('evgensimul', 'documented')",
    "brokerage.cpu_requirement('(x86_64|aarch64)', 'documented')::text",
    """resource.number_or_null('{"a": " 12.5 "}', 'a')""",
    "resource.shown('123456789012345678901234567890')",
    """instance.evaluate('ceil(2 * size / 1024) + 0.5', '{"size": 2048}')""",
]


@pytest.mark.parametrize("call", CALLS)
def test_standard_conforming_strings_of_a_caller_change_no_answer(connect: Connect, call: str) -> None:
    expected = connect().execute(f"select {call}").fetchone()
    caller = connect()
    caller.execute("set escape_string_warning = off")
    caller.execute("set standard_conforming_strings = off")
    assert caller.execute("select " + call.replace("\\", "\\\\")).fetchone() == expected
