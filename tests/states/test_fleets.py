"""Launching and ending instances."""

import time
from collections import Counter
from functools import partial

import boto3
import pytest
from botocore.awsrequest import AWSResponse
from botocore.exceptions import EndpointConnectionError
from support.function_events import RUN, plan_run
from support.refusals import refusal

import launch_fleet as launch_fleet_function
from aws.ec2 import console, images, resources
from aws.ec2 import instances as fleets
from aws.ec2.volume_mappings import work_mapping
from aws.fleet import launching, watching
from aws.records import bucket, table
from aws.stack import network, retrying
from aws.stack.clients import client
from aws.teardown import copies
from matrix.run.job import measuring_job
from matrix.terms.documents.job import FleetVolumes
from matrix.terms.errors import (
    BarrierTimeout,
    CapacityUnavailable,
    InstanceDied,
    LaunchRefused,
    LaunchThrottled,
    QuotaExceeded,
    SpotInterrupted,
)
from matrix.terms.keys import Board

BOOT = fleets.Boot("ami-12c6146b", "/dev/xvda")
PLAN = {"run": "r", "deadline_at": 2_000_000_000.0, "owner": "me"}
EBS = {"type": "ebs", "volumeType": "gp3", "sizeGiB": 20, "iops": 3000, "throughputMiBps": 125}


@pytest.fixture(autouse=True)
def small_batches(monkeypatch):
    """Three instances in a call are as good as a hundred, and faster."""
    monkeypatch.setattr(fleets, "BATCH", 3)


def launch_fleet(count, storage=EBS, **ways):
    fleet = {"instanceType": "m6i.large", "count": count, "placement": "same-az"} | ways
    return fleets.launch(
        plan=PLAN, file_system="ebs", cell="c1", storage=storage, fleet=fleet, user_data="#!/bin/bash\n", boot=BOOT
    )


def launch(count, **ways):
    return launch_fleet(count, **ways).instances


def alive():
    return [one for one in instances() if one["State"]["Name"] in ("pending", "running")]


def by_zone():
    return Counter(one["Placement"]["AvailabilityZone"][-1] for one in alive())


@pytest.fixture
def room(stack, monkeypatch):
    """EC2 with room for so many instances in each zone; the calls it gets."""
    real, left, calls = client("ec2").run_instances, {}, []

    def run(**request):
        calls.append(request)
        zone = network.availability_zone(request["SubnetId"])[-1]
        free, code = left.get(zone, (1_000, ""))
        if request["MaxCount"] > free:
            raise refusal(code, message="no more")
        left[zone] = (free - request["MaxCount"], code)
        return real(**request)

    monkeypatch.setattr(client("ec2"), "run_instances", run)
    left["calls"] = calls
    return left


def instances():
    pages = boto3.client("ec2").describe_instances()["Reservations"]
    return [instance for reservation in pages for instance in reservation["Instances"]]


def test_a_fleet_larger_than_a_batch_is_launched_whole_and_tagged_from_the_first_moment(stack):
    ids = launch(4)

    assert len(set(ids)) == 4
    for instance in instances():
        tags = {tag["Key"]: tag["Value"] for tag in instance["Tags"]}
        assert tags["storage-matrix:run"] == "r"
        assert tags["storage-matrix:cell"] == "c1"
        assert tags["storage-matrix:deadline"] == "2033-05-18T03:33:20Z"


def requested(room, **launching):
    """The request of a launch that botocore's model and the local EC2 have taken."""
    launch_fleet(1, **launching)
    return room["calls"][-1]


def test_root_and_data_volumes_are_encrypted_and_end_with_their_instance(room):
    mappings = {mapping["DeviceName"]: mapping["Ebs"] for mapping in requested(room)["BlockDeviceMappings"]}

    assert mappings.keys() == {"/dev/xvda", "/dev/sdf"}
    assert all(volume["Encrypted"] and volume["DeleteOnTermination"] for volume in mappings.values())


@pytest.mark.parametrize(
    ("kind", "cards"), [("c8gn.48xlarge", [0, 1, 0]), ("c8gn.24xlarge", [None] * 3), ("m6i.large", [None] * 3)]
)
def test_the_volumes_of_a_stripe_are_dealt_out_over_the_ebs_cards_of_the_type(room, kind, cards):
    request = requested(room, storage=EBS | {"raid0": 3}, instanceType=kind)

    data = request["BlockDeviceMappings"][1:]
    assert [mapping["Ebs"].get("EbsCardIndex") for mapping in data] == cards
    assert "EbsCardIndex" not in request["BlockDeviceMappings"][0]["Ebs"]


def test_a_weighted_fleet_is_launched_so_and_any_other_as_ec2_has_it(room):
    weighted = requested(room, instanceType="m8g.large", bandwidthWeighting="ebs-1")

    assert weighted["NetworkPerformanceOptions"] == {"BandwidthWeighting": "ebs-1"}
    assert "NetworkPerformanceOptions" not in requested(room, instanceType="m8g.large")


WORKING = {
    "id": "c1", "file_system": "ebs", "storage": {"type": "efs"}, "workload": {"type": "transfer"}, "image": "al",
    "fleet": {"instanceType": "m6i.large", "count": 1}, "points": [], "steps": [], "root_volume_gib": 20,
    "deadline_s": 60, "ready_within_s": 60.0, "work_volume": {"volumeType": "gp2", "sizeGiB": 20},
}  # fmt: skip


@pytest.mark.parametrize("mounted", [["/dev/sdn"], None], ids=["on AWS", "local"])
def test_a_work_volume_beside_the_storage_is_launched_recorded_and_mounted_on_aws(stack, request, mounted):
    if mounted is None:
        request.getfixturevalue("folders")
    plan = PLAN | {"images": [{"id": "al", "provisions": {}}], "environment": "aws", "agent_key": "a.pyz"}
    board = Board.of_cell("r", "c1")

    launching.launch(
        plan=plan, board=board, cell=WORKING, purpose="c1", fleet=WORKING["fleet"] | {"placement": "same-az"},
        boot=BOOT, mount={"kind": "efs"}, job=partial(measuring_job, cell=WORKING, gate_margin_s=0.0),
    )  # fmt: skip

    job = bucket.get(board.job)
    assert job.get("work_mount", {}).get("devices") == mounted
    volumes = [row for row in table.resources("r") if row["kind"] == "volume"]
    assert sorted((bool(row["is_data"]), row.get("is_work", False)) for row in volumes) == [
        (False, False), (False, True),
    ]  # fmt: skip
    [work] = [volume for volume in fleets.volumes([]) if volume["Attachments"][0]["Device"] == "/dev/sdn"]
    assert (work["VolumeType"], work["Size"], work["Encrypted"]) == ("gp2", 20, True)
    assert work_mapping(WORKING["work_volume"])["Ebs"]["DeleteOnTermination"]  # which moto does not describe


def test_each_batch_has_a_token_of_its_own_that_a_retry_repeats(room):
    launch(4)
    launch(4)

    tokens = [request["ClientToken"] for request in room["calls"]]
    assert len(set(tokens)) == 2
    assert tokens[:2] == tokens[2:]
    assert all(len(token) <= 64 for token in tokens)


@pytest.mark.parametrize("known", [["i-1", "i-2"], []], ids=["ended just now", "ended long ago"])
def test_a_repeated_launch_finds_instances_that_have_ended_since(room, monkeypatch, known):
    tokens = []

    def refuse(**request):
        tokens.append(request["ClientToken"])
        raise refusal("IdempotentInstanceTerminated")

    def described(filters):
        is_of_token = filters == [{"Name": "client-token", "Values": tokens[-1:]}]
        return [{"InstanceId": name} for name in known] if is_of_token else []

    monkeypatch.setattr(client("ec2"), "run_instances", refuse)
    monkeypatch.setattr(fleets, "_describe", described)

    if known:
        assert launch(2) == known
    else:
        with pytest.raises(LaunchRefused, match="IdempotentInstanceTerminated"):
            launch(2)


@pytest.mark.parametrize(
    ("code", "error"),
    [
        ("VcpuLimitExceeded", QuotaExceeded),
        ("VolumeLimitExceeded", QuotaExceeded),
        ("InsufficientInstanceCapacity", CapacityUnavailable),
        ("InsufficientFreeAddressesInSubnet", CapacityUnavailable),
        ("SpotMaxPriceTooLow", CapacityUnavailable),
        ("MaxSpotInstanceCountExceeded", QuotaExceeded),
        ("RequestLimitExceeded", LaunchThrottled),
        ("InvalidParameterCombination", LaunchRefused),
    ],
)
def test_a_refused_batch_ends_the_earlier_ones_and_says_which_kind_of_refusal(room, code, error):
    room["a"] = (3, code)  # which the first batch takes

    with pytest.raises(error, match=f"4 × m6i.large refused after 3: {code}: no more"):
        launch(4)

    assert (len(instances()), alive()) == (3, [])


def test_an_instance_that_ec2_does_not_know_keeps_no_other_alive(stack, monkeypatch):
    known, unknown = ["i-0aa", "i-0bb"], ["i-0cc", "i-0dd"]
    ended = []

    def terminate_all_or_none(InstanceIds):  # noqa: N803
        """As EC2 does, and moto does not."""
        if strangers := [one for one in InstanceIds if one in unknown]:
            message = f"The instance IDs '{', '.join(strangers)}' do not exist"
            raise refusal("InvalidInstanceID.NotFound", message=message)
        ended.extend(InstanceIds)

    monkeypatch.setattr(client("ec2"), "terminate_instances", terminate_all_or_none)

    fleets.terminate([known[0], *unknown, known[1]])
    fleets.terminate(unknown[:1])

    assert ended == known


NO_CAPACITY, NO_QUOTA = "InsufficientInstanceCapacity", "VcpuLimitExceeded"


def test_a_fleet_is_spread_split_or_beside_its_file_system(room):
    for ways, zones in [
        ({"placement": "spread"}, {"a": 3, "b": 2, "c": 2}),
        ({"placement": [1, 1]}, {"a": 4, "b": 3}),
        ({"placement": "same-az"}, {"a": 7}),
        ({"placement": None}, {"a": 3, "b": 2, "c": 2}),
        ({"placement": None, "storage": {"type": "fsx-openzfs"}}, {"a": 7}),
    ]:
        ids = launch(7, **ways)

        assert by_zone() == zones
        fleets.terminate(ids)


def test_a_spread_fleet_finds_its_capacity_in_other_zones(room):
    room["a"] = (1, NO_CAPACITY)

    launched = launch_fleet(9, placement="spread")

    assert by_zone() == {"a": 1, "b": 5, "c": 3}
    assert (len(launched.instances), launched.shortfall) == (9, "")


def test_a_want_of_capacity_is_an_answer_and_not_asked_for_again(stack, monkeypatch):
    sent = []

    def answer(request, **_):
        sent.append(request)
        response = AWSResponse(request.url, 500, {}, None)
        error = f"<Error><Code>{NO_CAPACITY}</Code><Message>no more</Message></Error>"
        response._content = f"<Response><Errors>{error}</Errors></Response>".encode()
        return response

    client("ec2").meta.events.register_first("before-send.ec2.RunInstances", answer)

    with pytest.raises(CapacityUnavailable):
        launch(1)

    assert len(sent) == 1


@pytest.mark.parametrize(
    ("in_zone", "fleet", "error", "said", "calls"),
    [
        # One that must stay in its zone looks nowhere else, and a quota holds in all zones.
        ((1, NO_CAPACITY), {"count": 4}, CapacityUnavailable, "4 × m6i.large refused after 0", 1),
        ((0, NO_QUOTA), {"count": 9, "placement": "spread"}, QuotaExceeded, "9 × m6i.large refused after 0", 1),
        # 3 instances, 3 that are refused, 1 as half of them, 1 that is refused.
        ((4, NO_CAPACITY), {"count": 6, "quorum": 5}, CapacityUnavailable, "after 4, 5 would have been enough", 4),
    ],
)
def test_a_fleet_that_cannot_be_had_is_refused_and_ended_whole(room, in_zone, fleet, error, said, calls):
    room["a"] = in_zone

    with pytest.raises(error, match=said):
        launch(**fleet)

    assert (len(room["calls"]), alive()) == (calls, [])


@pytest.mark.parametrize("code", [NO_CAPACITY, NO_QUOTA])
def test_a_fleet_that_reaches_its_quorum_is_kept_and_says_what_is_missing(room, code):
    room["a"] = (5, code)

    launched = launch_fleet(6, quorum=0.8)

    assert (len(launched.instances), len(alive())) == (5, 5)
    assert launched.shortfall == f"{code}: no more"


def test_what_an_attempt_that_crashed_launched_elsewhere_is_ended(room):
    room["a"] = (0, NO_CAPACITY)
    launch(3, placement="spread")  # crashes afterwards: nobody has noted the ids
    room["a"] = (9, NO_CAPACITY)

    second = launch(3, placement="spread")

    assert {one["InstanceId"] for one in alive()} == set(second)
    assert len(second) == 3


def test_spot_is_asked_for_once_and_its_request_is_tagged_too(room):
    request = requested(room, spot=True)

    assert len(room["calls"]) == 1
    assert request["InstanceMarketOptions"]["MarketType"] == "spot"
    assert request["InstanceMarketOptions"]["SpotOptions"]["InstanceInterruptionBehavior"] == "terminate"
    assert "spot-instances-request" in {one["ResourceType"] for one in request["TagSpecifications"]}


# What EC2 answers RunInstances with, or gives as the reason of an end after it has accepted the launch.
OF_EC2 = [
    ("VolumeLimitExceeded", QuotaExceeded, "ask for a higher quota"),
    ("MaxIOPSLimitExceeded", QuotaExceeded, "ask for a higher quota"),
    ("InsufficientInstanceCapacity", CapacityUnavailable, "try another instance type"),
    ("InsufficientFreeAddressesInSubnet", CapacityUnavailable, "try another instance type"),
]
ONLY_LATER = [
    ("Server.SpotInstanceTermination", SpotInterrupted, "leave out spot"),
    ("Server.SpotInstanceShutdown", SpotInterrupted, "leave out spot"),
    ("Client.InternalError", LaunchRefused, r"its own.*kms:CreateGrant.*ReEncrypt\*$"),
    ("Client.InvalidKMSKey.InvalidState", LaunchRefused, r"its own.*kms:CreateGrant.*ReEncrypt\*$"),
    ("Client.InvalidSnapshot.NotFound", LaunchRefused, "$"),
    ("Server.InternalError", LaunchRefused, "$"),
]
LATER = [*((f"Server.{code}", error, words) for code, error, words in OF_EC2), *ONLY_LATER]


def ended_by(code):
    """How EC2 describes the end of an instance."""
    return {"State": {"Name": "terminated"}, "StateReason": {"Code": code, "Message": f"{code}: in words"}}


def ending(monkeypatch, code):
    """EC2 as it describes a fleet of two, of which the first has ended with a reason."""
    seen = [{"InstanceId": "i-1"} | ended_by(code), {"InstanceId": "i-2", "State": {"Name": "running"}}]
    monkeypatch.setattr(fleets, "_describe", lambda _filters: seen)
    monkeypatch.setattr(console, "impatient_client", lambda _service: Consoles("", None))


@pytest.mark.parametrize(("code", "error", "words"), LATER)
def test_what_ec2_refuses_after_its_answer_has_the_name_and_advice_of_a_refused_call(
    stack, monkeypatch, code, error, words
):
    ending(monkeypatch, code)

    with pytest.raises(error, match=f"1 of 2 instances ended by EC2 .i-1.: .*in words.*{words}"):
        watching.watch(two_launched_long_ago())


@pytest.mark.parametrize(
    ("code", "has_sign", "error"),
    [
        ("Client.UserInitiatedShutdown", False, InstanceDied),
        ("Client.InstanceInitiatedShutdown", False, InstanceDied),
        ("Server.InternalError", True, InstanceDied),  # of a machine that ran
        ("Server.SpotInstanceTermination", True, SpotInterrupted),
    ],
)
def test_an_instance_that_ended_otherwise_has_died_with_ec2s_reason(stack, monkeypatch, code, has_sign, error):
    board = two_launched_long_ago()
    if has_sign:
        bucket.put(f"{board.instances}AROA:i-1/heartbeat", {"state": "measuring"})
    ending(monkeypatch, code)

    with pytest.raises(error, match=f"{code.removeprefix('Server.Spot')[-8:]}: in words"):
        watching.watch(board)


@pytest.mark.parametrize(("code", "error", "words"), LATER[::3])
def test_a_fleet_that_ec2_ends_in_part_after_its_answer_is_measured_from_its_quorum_on(
    room, monkeypatch, code, error, words
):
    real, ends = fleets._by_ids, [1]

    def described(ids):
        for place, one in enumerate(real(ids)):
            yield one | ended_by(code) if place < ends[0] else one

    monkeypatch.setattr(fleets, "_by_ids", described)

    launched = launch_fleet(4, quorum=3)
    assert (len(launched.instances), len(alive())) == (3, 3)
    assert launched.shortfall.endswith(": in words")

    ends[0] = 3
    with pytest.raises(error, match=f"4 × m6i.large refused after 1, 3 would have been enough: .*in words.*{words}"):
        launch_fleet(4, quorum=3)
    assert alive() == []


def let_be_ending(monkeypatch, instances_of):
    """Let EC2 describe these instances, which still take room, beside those that it has."""
    described = fleets._describe
    monkeypatch.setattr(
        fleets,
        "_describe",
        lambda filters: instances_of() if "terminated" in filters[-1]["Values"] else described(filters),
    )


@pytest.fixture
def clock(monkeypatch):
    """A clock that only sleeping moves, in seconds."""
    passed = [0.0]
    monkeypatch.setattr(retrying.time, "sleep", lambda seconds: passed.append(passed[-1] + seconds))
    return passed


FREED = [*(code for code, *_ in OF_EC2), "VcpuLimitExceeded", "MaxSpotInstanceCountExceeded", "InstanceLimitExceeded"]


@pytest.mark.parametrize("code", FREED)
def test_a_launch_waits_for_what_ending_instances_still_take(room, monkeypatch, clock, code):
    real, world = client("ec2").run_instances, {}

    def run(**request):
        if clock[-1] < world["free_at"]:
            raise refusal(code)
        return real(**request)

    def ending_instances():
        return [{"State": {"Name": world["state"] if clock[-1] < world["ends_at"] else "terminated"}}]

    monkeypatch.setattr(client("ec2"), "run_instances", run)
    let_be_ending(monkeypatch, ending_instances)

    # In the last world EC2's count lags behind what it describes.
    for state, ends_at, free_at in [("shutting-down", 90, 90), ("stopping", 40, 40), ("terminated", 0, 5)]:
        for quorum in (None, 1):
            clock.append(0.0)
            world |= {"state": state, "ends_at": ends_at, "free_at": free_at}

            launched = launch_fleet(2, **({"quorum": quorum} if quorum else {}))

            assert (len(launched.instances), launched.shortfall) == (2, "")
            assert free_at <= clock[-1] <= free_at + 5


def test_a_launch_of_a_run_that_is_stopped_meanwhile_waits_no_longer(room, monkeypatch, clock):
    room["a"] = (0, "VcpuLimitExceeded")
    let_be_ending(monkeypatch, lambda: [{"State": {"Name": "shutting-down"}}])
    monkeypatch.setattr(table, "ended_at", lambda run: clock[-1] if run == "r" and clock[-1] > 20 else None)

    with pytest.raises(QuotaExceeded):
        launch(2)

    assert 20 < clock[-1] < 30


@pytest.mark.parametrize(
    ("code", "states", "at_most_s"),
    [
        ("VcpuLimitExceeded", [], 0),  # nothing that could be freed
        ("VcpuLimitExceeded", ["terminated"], 7),
        ("VcpuLimitExceeded", ["shutting-down"], 300),
        ("InsufficientInstanceCapacity", ["shutting-down"], 300),
        ("Unsupported", ["shutting-down"], 0),
        ("SpotMaxPriceTooLow", ["shutting-down"], 0),
        ("InvalidParameterCombination", ["shutting-down"], 0),
    ],
)
def test_a_launch_that_nothing_can_help_is_refused_in_time(room, monkeypatch, clock, code, states, at_most_s):
    room["a"] = (0, code)
    let_be_ending(monkeypatch, lambda: [{"State": {"Name": state}} for state in states])

    with pytest.raises((QuotaExceeded, CapacityUnavailable, LaunchRefused)):
        launch(2)

    assert at_most_s * 0.9 <= clock[-1] <= at_most_s


DENIED, ONLY_NITRO = refusal("UnauthorizedOperation"), refusal("UnsupportedOperation")


class Consoles:
    """EC2 as it answers GetConsoleOutput: by the latest output, and by what it posted at a boot or an end."""

    def __init__(self, latest, posted):
        self.answers, self.asked = {True: latest, False: posted}, []

    def get_console_output(self, InstanceId, Latest=False):  # noqa: N803 - boto3's own names
        self.asked.append((InstanceId, Latest))
        answer = self.answers[Latest]
        if isinstance(answer, Exception):
            raise answer
        return {"InstanceId": InstanceId, **({} if answer is None else {"Output": answer})}


FETCH_FAILED = "[   14.2] cloud-init[812]: s3://b/agents/a.pyz was not fetched: URLError(timed out)\n"


@pytest.mark.parametrize(
    ("latest", "posted", "words"),
    [
        (FETCH_FAILED, None, "was not fetched: URLError(timed out)"),
        (ONLY_NITRO, FETCH_FAILED, "was not fetched: URLError(timed out)"),
        (None, FETCH_FAILED, "was not fetched: URLError(timed out)"),
        (None, None, "EC2 has no console output yet; later: aws ec2 get-console-output --instance-id i-1"),
        (ONLY_NITRO, "", "EC2 has no console output yet"),
        (DENIED, DENIED, "the console output of i-1 was not read: An error occurred (UnauthorizedOperation)"),
        (EndpointConnectionError(endpoint_url="x"), None, "was not read: Could not connect to the endpoint URL"),
    ],
)
@pytest.mark.parametrize(
    ("ends", "error"), [(["i-1"], InstanceDied), ([], BarrierTimeout)], ids=["one ended", "one is late"]
)
def test_an_instance_that_wrote_nothing_ends_its_cell_with_what_its_console_says(
    stack, monkeypatch, latest, posted, words, ends, error
):
    board = two_launched_long_ago()
    place = board.barrier("0" * 32)
    bucket.put(place.ready(0) + "i-2", {})
    bucket.put(f"{board.instances}AROA:i-2/heartbeat", {"state": "waiting"})
    states = {name: "terminated" if name in ends else "running" for name in ("i-1", "i-2")}
    monkeypatch.setattr(fleets, "states", lambda _ids: states)
    monkeypatch.setattr(fleets, "_describe", lambda _filters: [])
    consoles = Consoles(latest, posted)
    monkeypatch.setattr(console, "impatient_client", lambda _service: consoles)

    with pytest.raises(error) as raised:
        watching.watch(board)

    assert words in str(raised.value)
    assert {instance for instance, _ in consoles.asked} == {"i-1"}, "i-2 has an agent, which can say what is wrong"


def record_volumes(fleet):
    """Note the volumes of a fleet on EBS; those with data by instance."""
    cell = {"file_system": "ebs", "storage": EBS}
    return launching._record_volumes(PLAN["run"], "c1", cell, fleet.instances)


def two_launched_long_ago():
    board = Board.of_cell("r", "c1")
    cell = {
        **{"id": "c1", "storage": {"type": "ebs"}, "workload": {"type": "touch"}, "fleet": {"count": 2}},
        **{"points": [], "steps": [], "deadline_s": 1e9, "ready_within_s": 900.0},
    }
    setting = {"run": "r", "mount": {"kind": "root"}, "bucket": "b", "environment": "aws", "now": 1e9}
    bucket.put(board.job, measuring_job(cell=cell, gate_margin_s=1.0, **setting))
    bucket.put(board.fleet, {"instances": ["i-1", "i-2"], "expected": 2, "launched_at": time.time() - 901})
    bucket.put(board.barrier_nonce, {"nonce": "0" * 32})
    return board


@pytest.mark.parametrize("looks_in_vain", [0, 3, 100])
def test_volumes_that_ec2_describes_late_are_waited_for_as_nobody_sees_them_after_their_instance(
    stack, monkeypatch, looks_in_vain
):
    described, pauses_s = fleets.volumes, []
    monkeypatch.setattr(fleets, "volumes", lambda filters: described(filters) if len(pauses_s) >= looks_in_vain else [])
    monkeypatch.setattr(retrying.time, "sleep", pauses_s.append)
    fleet = launch_fleet(2)

    of_data = record_volumes(fleet)

    # Of each instance only its data volume, not its root.
    assert sorted(of_data) == (sorted(fleet.instances) if looks_in_vain < 100 else [])
    assert all(len(volumes) == 1 for volumes in of_data.values())

    kinds = [row["kind"] for row in table.resources(PLAN["run"])]
    assert kinds.count("volume") == (4 if looks_in_vain < 100 else 0)
    assert len(pauses_s) == min(looks_in_vain, len(launching.PAUSES_S))
    assert 20 < sum(launching.PAUSES_S) < 60


@pytest.mark.parametrize(("ended", "looks"), [(2, 1), (1, 10)])
def test_volumes_of_instances_that_have_all_ended_are_waited_for_no_longer(stack, monkeypatch, ended, looks):
    pauses_s, seen = [], []
    monkeypatch.setattr(fleets, "volumes", lambda filters: seen.append(filters) or [])
    monkeypatch.setattr(retrying.time, "sleep", pauses_s.append)
    fleet = launch_fleet(2)
    client("ec2").terminate_instances(InstanceIds=fleet.instances[:ended])

    assert record_volumes(fleet) == {}

    assert len(seen) == looks == len(pauses_s) + 1


def test_every_list_of_ec2_is_asked_for_page_by_page(stack):
    asked = {}
    note = lambda params, model, **_: asked.update({model.name: params.get("MaxResults")})  # noqa: E731
    client("ec2").meta.events.register("before-parameter-build.ec2", note)

    list(fleets.of_run("r"))
    list(fleets.tagged_volumes())
    images.all_baked()
    copies.find("r", [])

    lists = ("DescribeInstances", "DescribeVolumes", "DescribeImages", "DescribeSnapshots")
    assert asked == dict.fromkeys(lists, 500)


def test_a_volume_that_is_described_before_its_attachment_is_waited_for_and_then_said_to_hold_the_data(
    stack, monkeypatch
):
    described, pauses_s = fleets.volumes, []

    def volumes(filters):
        return [volume | ({} if pauses_s else {"Attachments": []}) for volume in described(filters)]

    monkeypatch.setattr(fleets, "volumes", volumes)
    monkeypatch.setattr(retrying.time, "sleep", pauses_s.append)
    fleet = launch_fleet(1)

    of_data = record_volumes(fleet)

    rows = [row for row in table.resources(PLAN["run"]) if row["kind"] == "volume"]
    assert [row["is_data"] for row in rows if row["id"] in of_data[fleet.instances[0]]] == [True]
    assert [row["instance"] for row in rows] == fleet.instances * 2
    assert len(pauses_s) == 1


def test_a_volume_that_ec2_does_not_describe_is_not_gone_while_its_instance_is_there(stack, monkeypatch):
    fleet, described = launch_fleet(1), fleets.volumes
    resources.record(PLAN["run"], "c1", "ebs")
    table.record_resources(PLAN["run"], [("instance", fleet.instances[0], {"file_system": "ebs", "cell": "c1"})])
    monkeypatch.setattr(fleets, "volumes", lambda _filters: [])

    assert {row["kind"] for row in resources.verify(PLAN["run"])} == {"instance", "volume"}

    monkeypatch.setattr(fleets, "volumes", described)
    fleets.terminate(fleet.instances)
    assert resources.verify(PLAN["run"]) == []


def test_instances_reach_each_other_only_if_a_leader_runs_the_command(stack, context):
    command = {"type": "command", "command": "true"}
    plan = plan_run(
        context,
        storage=[{"type": "efs", "throughputMode": "elastic"}],
        workload=[command | {"name": "each"}, command | {"name": "led", "on": "leader"}],
        fleet=[{"instanceType": "m6i.large", "count": 2}],
    )

    rosters = {}
    for cell in plan["cells"]:
        launch_fleet_function.handler({"run": RUN, "cell": cell["id"], "resource_ids": ["fs-1"]}, context)
        board = Board.of_cell(RUN, cell["id"])
        rosters[cell["workload"]["name"]] = bucket.get(board.barrier(bucket.get(board.barrier_nonce)["nonce"]).roster)

    described = {one["InstanceId"]: one for one in instances()}
    groups = {name: [group["GroupId"] for group in one["SecurityGroups"]] for name, one in described.items()}
    addresses = {name: described[name]["PrivateIpAddress"] for name in rosters["led"]["instances"]}
    assert ("addresses" in rosters["each"], rosters["led"]["addresses"]) == (False, addresses)
    connected = stack["CONNECTED_SECURITY_GROUP_IDS"].split(",")
    assert all(groups[name] == connected for name in rosters["led"]["instances"])
    assert all(set(groups[name]).isdisjoint(connected) for name in rosters["each"]["instances"])


def test_agents_of_a_cell_on_raw_devices_are_told_the_ids_of_their_own_data_volumes(stack, context):
    fio = {"type": "fio", "rw": "randwrite", "size": "1G", "direct": 1, "time_based": 1, "runtime": 10}
    plan = plan_run(
        context,
        storage=[EBS | {"name": "raid", "raid0": 2}],
        workload=[fio | {"device": True}, fio],
        fleet=[{"instanceType": "m6i.large", "count": 1}],
    )
    on_device, on_files = sorted(plan["cells"], key=lambda cell: "device" not in cell["workload"])

    for cell in (on_device, on_files):
        launch_fleet_function.handler({"run": RUN, "cell": cell["id"], "resource_ids": []}, context)

    board = Board.of_cell(RUN, on_device["id"])
    [instance] = bucket.get(board.fleet)["instances"]
    attached = [{"Name": "attachment.instance-id", "Values": [instance]}]
    described = boto3.client("ec2").describe_volumes(Filters=attached)["Volumes"]
    data = {volume["VolumeId"] for volume in described if volume["Attachments"][0]["Device"] != "/dev/xvda"}
    told = bucket.read(board.volumes, FleetVolumes)["volumes"]
    assert bucket.get(board.job)["mount"] == {"kind": "ebs-device", "devices": ["/dev/sdf", "/dev/sdg"]}
    assert told.keys() == {instance}
    assert set(told[instance]) == data
    assert len(data) == 2
    of_files = Board.of_cell(RUN, on_files["id"])
    assert bucket.get(of_files.job)["mount"]["kind"] == "ebs"
    assert bucket.get(of_files.volumes) is None
