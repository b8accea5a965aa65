"""What was injected, and what became of the runs."""

from collections import Counter
from datetime import UTC, datetime

from faults.cases import EVERYTHING, LATE, LATE_S, MAX_FAULTS_OF_A_RUN, TIME_SCALE
from faults.laboratory import SWEEP_LIMIT_S, Verdict

LATE_HEADING, NEXT_HEADING = "## What AWS shows late", "## Problems"
WHAT_IS_LATE = {
    "executions": "DescribeExecution knows no execution that has just begun, and says RUNNING of one that has ended",
    "instances": "new instances and volumes are missing where EC2 describes them",
    "tags": "new instances, volumes and file systems are described without tags, and not found by them",
    "names": "the name of a new file system does not resolve",
    "mount targets": "CreateMountTarget is refused once, though the file system is described as available",
    "deletion": "FSx refuses to delete what it still creates",
    "grants": "all calls of the roles are denied at first (10 s of Step Functions' time)",
    EVERYTHING: "all of these at once",
}
WHAT_IT_DOES = """\
Written by `make faults` (tests/faults/harness.py). It records every AWS call that the deployed roles make in a few runs
on the local cloud: good, failing and stopped ones. Then it runs the same again, with each different call (who makes it,
which operation, about what kind of object) failing in each way, and stopped in each state. After each run it checks
that nothing is left, of the run and in the whole cloud, and that the receipt says so; that no uploaded sample is lost
or uncounted; that the results name the fault; that a run with a failed cell never succeeds."""
HOW_TO_READ = f"""## How to read it

- *survived*: the run went as one without the fault: it succeeded with every sample in its summary, or ended as a
  failing or stopped one does. *failed*: it ended red and its results name the fault.
- Faults befall calls in a row: *throttled* 3 or all, *internal error* 2 or all, *denied* all. boto3 asks ten times (an
  agent's eight), Step Functions invokes a function six times: three throttled answers are survived, endless ones are
  not.
- *lost answer*: the call takes effect, then its connection is cut. *crash*: the call takes effect, then the function's
  sandbox or the agent is killed with SIGKILL.
- Faults that retries get a run over share a run, up to {MAX_FAULTS_OF_A_RUN}, each in another function. A run of them
  that does not go as it shall is taken apart and each fault injected alone. All other faults have a run of their own.
- A sweep (Reap) follows the end of each run; further ones stand for the schedule, after {SWEEP_LIMIT_S} s each.
- A baked image is kept on purpose. One that the receipt of its run lacks counts as a leak, and so does what is left of
  images after `matrix reap --images`.
- Waits are shortened: those of executions {TIME_SCALE} times, those between the attempts of an AWS call 100 times
  (local/programs/retry_waits.py). The number of attempts and what is retried are the real ones. A function that is
  throttled for good therefore fails here after its ten attempts, where on AWS its own time-out may come first;
  Step Functions then retries it.
- An agent that is denied its gate is denied three times only: it may not list the bucket, so a 403 means "not yet" to
  it, and it would wait until its deadline. GetCallerIdentity is not denied: no policy can.
- An agent that is killed cannot say why: the results have EC2's word, that its instance ended too early.
"""


def late(verdicts: list[Verdict]) -> list[str]:
    """The part on what AWS shows late."""
    of_late = [verdict for verdict in verdicts if verdict.case["fault"] == LATE]
    lines = [
        LATE_HEADING,
        "",
        "AWS is eventually consistent, and the local cloud is not. Here it is: what took effect shows later (see",
        "tests/cloud/faults/lateness.py). Nothing may come of it but time: the run ends as ever, its receipt is whole.",
        "",
        f"{_when(of_late)}:",
        "",
        *_totals(of_late),
        "",
        "| late | for | runs | survived |",
        "|---|--:|--:|--:|",
    ]
    for what, words in WHAT_IS_LATE.items():
        runs = [verdict for verdict in of_late if verdict.case["what"] == what]
        seconds = f"{LATE_S[what]:g} s" if what in LATE_S and what != "mount targets" else ""
        lines.append(f"| {words} | {seconds} | {len(runs)} | {sum(not verdict.problems for verdict in runs)} |")
    return [*lines, *_if_any(_problem_lines(of_late))]


def _if_any(lines: list[str]) -> list[str]:
    return ["", *lines] if lines else []


def _when(verdicts: list[Verdict]) -> str:
    commits = Counter(verdict.commit for verdict in verdicts).most_common()
    of_commits = ", ".join(f"{number} at commit {commit}" for commit, number in commits)
    return f"Last run: {datetime.now(UTC):%Y-%m-%d}, {len(verdicts)} faults ({of_commits})"


def summary(verdicts: list[Verdict], *, cases: int, at_once: int) -> str:
    late_part = late(verdicts)
    cases -= sum(verdict.case["fault"] == LATE for verdict in verdicts)
    verdicts = [verdict for verdict in verdicts if verdict.case["fault"] != LATE]
    runs = {verdict.run: verdict for verdict in verdicts}
    hours = sum(verdict.seconds for verdict in runs.values()) / 3600
    lines = [
        "# Faults injected, and what became of the runs",
        "",
        WHAT_IT_DOES,
        "",
        f"{_when(verdicts)}, of {cases},",
        f"in {len(runs)} runs that took {hours:.1f} hours together, {at_once} at once.",
        "",
        *_totals(verdicts),
        "",
        "## By call",
        "",
        *_calls(verdicts),
        "",
        *late_part,
        "",
        NEXT_HEADING,
        "",
        *(_problem_lines(verdicts) or ["None."]),
        "",
        HOW_TO_READ,
    ]
    return "\n".join(lines)


def _totals(verdicts: list[Verdict]) -> list[str]:
    leaks = sum(any(problem.startswith("left behind") for problem in v.problems) for v in verdicts)
    lost = sum(any("samples" in problem for problem in v.problems) for v in verdicts)
    outcomes = Counter(verdict.outcome for verdict in verdicts)
    swept = {verdict.run: verdict for verdict in verdicts if verdict.left_at_end}
    sweeps = max((verdict.sweeps for verdict in swept.values()), default=1)
    swept_s = max((verdict.swept_s for verdict in swept.values()), default=0.0)
    return [
        f"- {len(verdicts)} faults, {sum(v.injected for v in verdicts):,} calls befallen:"
        f" {outcomes['survived']} survived, {outcomes['failed']} failed and said so,"
        f" {outcomes['stopped']} were stopped",
        f"- leaks: {leaks}; {len(swept)} runs left something at their end that was gone after {sweeps} "
        f"sweep{'s' if sweeps > 1 else ''} and {swept_s:.0f} s at the most",
        f"- runs with lost samples: {lost}",
        f"- faults with problems: {sum(bool(v.problems) for v in verdicts)}",
    ]


def _calls(verdicts: list[Verdict]) -> list[str]:
    lines = ["| call | faults | survived | failed | stopped |", "|---|--:|--:|--:|--:|"]
    for action in sorted({verdict.case["action"] for verdict in verdicts}):
        outcomes = Counter(verdict.outcome for verdict in verdicts if verdict.case["action"] == action)
        counts = [outcomes.total(), *(outcomes[one] for one in ("survived", "failed", "stopped"))]
        lines.append(f"| {action} | {' | '.join(map(str, counts))} |")
    return lines


def _problem_lines(verdicts: list[Verdict]) -> list[str]:
    return [f"- {v.id}: {'; '.join(v.problems)}"[:600] for v in verdicts if v.problems]
