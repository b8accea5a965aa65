"""The calls that `matrix verify` asks AWS about, as runs add them."""

from support.role_calls import merged, plain

KNOWN = {"role": "ReapRole", "action": "fsx:DeleteBackup", "resource": "arn:one"}
GONE = {"role": "ReapRole", "action": "fsx:CreateDataRepositoryTask", "resource": "arn:one"}
SEEN = {"role": "ReapRole", "action": "fsx:DescribeBackups", "resource": "arn:one", "context": {"aws:tag": "1"}}


def test_a_call_that_runs_make_by_chance_stays_while_its_role_may_make_it():
    assert merged([KNOWN, GONE], [SEEN]) == [KNOWN, SEEN]


def test_what_these_runs_saw_of_a_call_replaces_what_was_known():
    assert merged([{**SEEN, "context": {}}], [SEEN]) == [SEEN]


def test_directory_buckets_of_all_runs_have_one_name():
    arns = {
        plain(f"arn:aws:s3express:us-east-1:123456789012:bucket/sm-m{name * 20}--use1-az6--x-s3", ())
        for name in ("a1", "b2")
    }

    assert arns == {f"arn:{{partition}}:s3express:{{region}}:{{account}}:bucket/sm-m{'0' * 40}--use1-az6--x-s3"}
