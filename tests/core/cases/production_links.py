"""Production jobs, profile documented: links, nearness to the nucleus, activity, zero share."""

from tests.core.cases.production import NUCLEUS, PASSES, QUEUE, Case, Given, Row, made, world


def _links(link: Row, task: Row, config: Row, expected: str) -> Given:
    links = [{"src": "S1", "dst": "NUC"} | link, {"src": "NUC", "dst": "NUC", "queued": 1}]
    return world(task=task, links=links, config=config), {"Q": expected}


LINKS = made("links", _links, [
    ({"closeness": -1}, {}, {}, "link-blocked -link_unusable"),
    ({"closeness": 0}, {}, {}, PASSES),
    ({"queued": 150}, {}, {}, PASSES),
    ({"queued": 151}, {}, {}, "link-queue-cap -link_unusable"),
    ({"queued": 151}, {"processing_type": "an urgent one"}, {"NW_THRESHOLD": 1}, PASSES),
    ({"queued": 0, "queued_express": 151}, {"processing_type": "urgent"}, {}, "link-queue-cap -link_unusable"),
    ({"queued": 100}, {}, {"NQUEUED_NUC_CAP_FOR_JOBS": 101}, PASSES),  # 1 more from the nucleus itself
    ({"queued": 101}, {}, {"jobbroker:NQUEUED_NUC_CAP_FOR_JOBS": 101}, "nucleus-queue-cap -links_full"),
    ({"queued": 151, "closeness": -1}, {"nucleus": None}, {}, PASSES),
    ({"queued": 151, "closeness": -1, "dst": "OTHER"}, {}, {"NQUEUED_NUC_CAP_FOR_JOBS": 1}, PASSES),
])  # fmt: skip


def _network(link: Row, expected: str) -> Given:
    """The weight of an empty queue is a tenth of its network weight."""
    links = [{"src": "S1", "dst": "NUC"} | link]
    return world(links=links, config={"NQUEUED_SAT_CAP": 1000}), {"Q": float(expected) / 10}


NETWORK = made("network weight", _network, [
    ({}, "1.65"),
    ({"closeness": 0}, "2"),
    ({"closeness": 11}, "1.5"),
    ({"queued": 150, "mbps_1h": 50}, "1.5"),  # 50 is not over 50: 0.5 * (1.5 + 1.5)
    ({"mbps_1h": 50.5}, "1.85"),
    ({"mbps_1h": 0, "mbps_1d": 300}, "1.5"),  # 0 is a value
    ({"mbps_1h": None, "mbps_1d": 200, "mbps_1w": 1}, "1.95"),
    ({"mbps_1w": 200.1}, "2"),
    ({"queued": 300, "mbps_1w": 200.1}, "1.5"),
    ({"queued": 900, "mbps_1w": 2.5}, "1.1"),
])  # fmt: skip


def _near(task: Row, queue: Row, expected: str) -> Given:
    given = world(queue, task)
    given["queues"]["A"] = QUEUE | NUCLEUS | {"status": "offline"}
    return given, {"Q": expected}


NEAR = made("queues associated with the nucleus", _near, [
    ({"current_priority": 799}, {}, PASSES),
    ({"current_priority": 800}, {}, "high-prio-opportunistic -opportunistic"),
    ({"use_scout": True}, {}, "high-prio-opportunistic -opportunistic"),
    ({"current_priority": 800}, NUCLEUS, PASSES),
    # near: writes to an input endpoint of the first nucleus queue
    ({"current_priority": 800}, {"astorages": {"pr": ["DISK"], "pw": ["NUC_DISK", "DISK"]}}, PASSES),
    ({"current_priority": 800}, {"astorages": {"pr": ["DISK"], "pw": ["DISK", "NUC_DISK"]}},
     "high-prio-opportunistic -opportunistic"),
    ({"current_priority": 800, "nucleus": None}, NUCLEUS, "high-prio-opportunistic -opportunistic"),
    ({"split": {"t1Weight": -1}}, {}, "t1-weight -t1weight"),
    ({"split": {"t1Weight": -1}, "is_merging": True}, {}, PASSES),
    ({"split": {"t1Weight": -2}}, {}, PASSES),
    ({"split": {"t1Weight": -1}}, NUCLEUS, PASSES),
])  # fmt: skip


def _inactive(task: Row, hours: float | None, activated: int, expected: str) -> Given:
    queue = {"laststart": hours and {"hours_ago": hours}}
    statistics = [{"queue": "Q", "gshare": "Share B", "status": "activated", "njobs": activated}]
    return world(queue, task, statistics=statistics), {"Q": expected}


INACTIVE = made("inactive queues", _inactive, [
    ({}, 3, 1, PASSES), ({"split": {"mergeOutput": 1}}, 3, 1, "inactive-queue -inactive"),
    ({"is_merging": True}, 3, 1, "inactive-queue -inactive"), ({"is_merging": True}, 3, 0, PASSES),
    ({"is_merging": True}, 2, 1, PASSES), ({"is_merging": True}, None, 1, PASSES),
])  # fmt: skip


def _zero_share(policy: str | None, task: Row, zero: bool) -> Given:
    return world({"fairsharepolicy": policy}, task), {"Q": "zero-share -zeroshare" if zero else PASSES}


ZERO_SHARE = made("zero share", _zero_share, [
    ("type=evgensimul:100%", {"processing_type": "simul"}, False),
    ("type=evgensimul:100%", {"processing_type": "pile"}, True),  # others have nothing left
    ("type=evgensimul:99%", {"processing_type": "pile"}, False),
    ("type=evgen:50%,type=simul:50%", {"processing_type": "pile"}, True),
    ("type=pile:0%", {"processing_type": "pile"}, True),
    ("type=pile:00%", {"processing_type": "pile"}, False),
    ("type=pile:0", {"processing_type": "pile"}, True),
    ("type=evgen:100%,type=any:0%", {"processing_type": "evgen"}, False),
    ("type=any:0%,type=evgen:100%", {"processing_type": "evgen"}, True),  # the first that applies
    ("type=any:0%", {"processing_type": "validation"}, False),  # test jobs run anywhere
    ("type=re*:0%", {"processing_type": "reprocessing"}, True),
    ("type=others:0%", {"processing_type": "unheard of"}, True),
    ("group=AP_*:0%", {"working_group": "AP_HIGG"}, True),
    ("group=AP_*:0%", {}, False),
    ("group=:0%", {}, True),
    ("gshare=Share A:0%", {}, True),
    ("gshare=Share B:0%", {}, False),
    ("gshare=Share B:0%", {"gshare": None}, True),  # no share: the field does not count
    ("type=any:priority<500:0%", {"current_priority": 500}, False),
    ("type=any:priority<=500:0%", {"current_priority": 500}, True),
    ("type=any:priority>500:0%", {"current_priority": 500}, False),
    ("type=any:priority>=500:0%", {"current_priority": 500}, True),
    ("type=any:priority>500:0%", {"current_priority": 500, "is_merging": True}, True),
    (None, {}, False),
    ("", {}, False),
])  # fmt: skip


FIRST_BY_NAME = world({"astorages": {"read_lan": [], "write_lan": ["NUC_DISK"]}}, {"current_priority": 800})
FIRST_BY_NAME["queues"] |= {"N2": QUEUE | NUCLEUS, "N1": QUEUE | NUCLEUS | {"astorages": {"read_lan": ["DISK"]}}}
BLOCKED = [{"src": "S1", "dst": "NUC", "closeness": -1}, {"src": "NUC", "dst": "NUC", "closeness": -1}]

CASES = [
    *LINKS,
    Case("a blocked link does not matter at home", world({"storage_site": "NUC"}, links=BLOCKED), {"Q": PASSES}),
    *NETWORK,
    Case("network weight at home", world(NUCLEUS), {"Q": 0.25}),
    *NEAR,
    Case("nearness is measured at the first nucleus queue by name", FIRST_BY_NAME,
        {"Q": "high-prio-opportunistic -opportunistic"}),
    *INACTIVE,
    *ZERO_SHARE,
]  # fmt: skip
