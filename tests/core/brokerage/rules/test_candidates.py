"""Queues that enter the list of production job brokerage (production-candidates.md, prod-initial-all)."""

from typing import Any

import psycopg

from tests.core.brokerage.rules.facts import case, check


def test_production_queues_without_test_in_their_name_are_candidates(rolled_back: psycopg.Connection[Any]) -> None:
    check(rolled_back, "candidate_all", [
        case(None),
        case(None, q_type="production"),
        case("type is analysis", q_type="analysis"),
        case("type is analysis", q_type="analysis", q_is_production=True),
        case("type is not set", q_type=None),
        case("test", q_queue="SITE_TEST"),
        case("test", q_queue="site_test_pq"),
        case("test", q_queue="CoNTeSTed/SCORE"),
        case(None, q_queue="SITE_TES_T"),
        case(None, t_preassigned=["OTHER"], q_type="analysis", q_queue="TEST"),
    ])  # fmt: skip


def test_only_the_preassigned_queues_are_candidates_of_a_preassigned_task(rolled_back: psycopg.Connection[Any]) -> None:
    site, merge = "prod-initial-preassigned", "preassigned-merge"
    listed = {"t_preassigned": ["A"], "t_preassigned_by": site}
    for parameters in ({}, {"by": site}):
        check(
            rolled_back,
            "candidate_preassigned",
            [
                case(None),
                case(None, p_is_preassigned=True, **listed),
                case("not among the pre-assigned queues", **listed),
                case("not among the pre-assigned queues", t_preassigned=[], t_preassigned_by=site),
            ],
            parameters,
        )
    check(rolled_back, "candidate_preassigned", [case(None, **listed)], {"by": merge})
    check(
        rolled_back, "candidate_preassigned", [case("not among", **{**listed, "t_preassigned_by": merge})],
        {"by": merge},
    )  # fmt: skip
