"""Proof by faults: record every AWS call of good runs, run them again once for each call with that call failing.

    PYTHONPATH=functions:tests python -m faults.harness            all cases, then .local/faults/faults.md
    PYTHONPATH=functions:tests python -m faults.harness --list     only the cases
    PYTHONPATH=functions:tests python -m faults.harness --only EXPRESSION
    PYTHONPATH=functions:tests python -m faults.harness --late     only what AWS shows late, and that part of the page

Each finished case is a line of .local/faults/cases.jsonl; started again, the harness goes on with those that are
missing (`--again` begins anew). Each line says the commit it befell: `--stale` also runs again what befell another one,
after the missing ones. After each case it asserts that

- nothing is left after the run's end and the sweeps: no instance, volume, file system, agent process or folder;
- the receipt says of everything that it is gone, one more sweep later at the latest;
- every samples.json that was uploaded is still there, whole, and counted in the summary;
- the run's results name the fault: its error, the service's or the function's;
- red stays red: a run with a failed cell never succeeds, and one that succeeds has every sample.
"""

import argparse
import json
import re
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import asdict
from itertools import chain, zip_longest
from queue import SimpleQueue

from faults.cases import ROOT, SCENARIOS, STATUS, Case, Trial, is_of_first_run, late_cases, run_name, trials, work_list
from faults.laboratory import SWEEP_LIMIT_S, Laboratory, Verdict, commit, laboratory, wait_for
from faults.summary import late, summary

WORK = ROOT / ".local" / "faults"
# Moto is one process with one interpreter lock: two clouds use two cores.
CLOUDS_AT_ONCE, RUNS_PER_CLOUD = 2, 4
# Moto keeps all that ever was and looks through all of it: after so many cases a new cloud is faster.
RUNS_OF_A_CLOUD = 40
ATTEMPTS = 4


def record_all() -> list[Case]:
    """The work list of good runs on a new cloud."""
    first, *others = SCENARIOS  # it puts the agent into the bucket
    others.remove("objects")  # whose prefixes others would look at, by chance
    with laboratory() as lab, ThreadPoolExecutor(len(others)) as pool:
        recorded = {first: lab.record(first, f"record-{first}")}
        found = pool.map(lambda scenario: lab.record(scenario, f"record-{scenario}"), others)
        recorded |= dict(zip(others, found, strict=True))
        return work_list(recorded | {"objects": lab.record("objects", "record-objects")})


def is_as_expected(verdict: Verdict) -> bool:
    """Whether the run of survivable faults went as one without."""
    wanted = STATUS.get(verdict.case["scenario"], "SUCCEEDED")
    return verdict.status == wanted and not verdict.problems


def execute_all(cases: list[Case]) -> Iterator[Verdict]:
    """Run cases on some clouds at once, of which each is replaced now and then."""
    whole = trials(cases)
    others = [trial for trial in whole if not is_of_first_run(trial[0])]
    batches = [others[start : start + RUNS_OF_A_CLOUD] for start in range(0, len(others), RUNS_OF_A_CLOUD)]
    # The agent is put into the bucket by the first run of a cloud only: one such case at the head of a cloud.
    alone = [trial for trial in whole if is_of_first_run(trial[0])]
    batches = [[*head, *batch] for head, batch in zip_longest(([one] for one in alone), batches, fillvalue=[])]
    verdicts: SimpleQueue[Verdict] = SimpleQueue()
    with ThreadPoolExecutor(CLOUDS_AT_ONCE) as clouds:
        for batch in batches:
            clouds.submit(_execute_batch, batch, verdicts)
        for _ in cases:
            yield verdicts.get()


def _execute_batch(batch: list[Trial], verdicts: "SimpleQueue[Verdict]") -> None:
    left, last = list(batch), []
    errors: dict[Trial, str] = {}

    def execute(trial: Trial) -> None:
        found = execute_apart(lab, trial)
        left.remove(trial)
        for verdict in found[: None if left else -1]:
            verdicts.put(verdict)
        if not left:
            last.append(found[-1])

    try:
        with laboratory() as lab:
            with ThreadPoolExecutor(RUNS_PER_CLOUD) as pool:
                futures = {trial: pool.submit(execute, trial) for trial in batch[:1]}
                wait(futures.values())
                futures |= {trial: pool.submit(execute, trial) for trial in batch[1:]}
            errors = {trial: repr(found) for trial, future in futures.items() if (found := future.exception())}
            lab.sweep_images()
            lab.theirs.go()
            if not wait_for(lambda: not lab.left_by_all(), SWEEP_LIMIT_S):
                for verdict in last:
                    words = f"left behind in the cloud by this or the {len(batch) - 1} runs before"
                    verdict.problems.append(f"{words}: {lab.left_by_all()}")
    finally:
        for verdict in last:
            verdicts.put(verdict)
        for trial in left:
            problem = f"the harness failed: {errors.get(trial)}"
            for case in trial:
                verdicts.put(Verdict(case.id, asdict(case), run_name(trial), problems=[problem]))


def execute_apart(lab: Laboratory, trial: Trial) -> list[Verdict]:
    """Run cases together; each alone if that does not go as it shall, and again if its call was not made."""
    verdicts = lab.execute(trial, run_name(trial))
    if len(trial) > 1:
        if is_whole := all(map(is_as_expected, (v for v in verdicts if v.injected))):
            again = [case for case, verdict in zip(trial, verdicts, strict=True) if not verdict.injected]
        else:
            again = list(trial)
        kept = [verdict for verdict in verdicts if is_whole and verdict.injected]
        return kept + [verdict for case in again for verdict in execute_apart(lab, (case,))]
    for attempt in range(2, ATTEMPTS + 1):
        # The call depends on timing: another sweep was first, or nothing had to be waited for.
        if not verdicts[0].injected:
            verdicts = lab.execute(trial, f"{run_name(trial)}-{attempt}")
    return verdicts


def main() -> int:
    """Run what is missing, write the summary; exit status 1 if any case has a problem."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--list", action="store_true", help="only list the cases")
    parser.add_argument("--only", default="", help="a regular expression that the cases' names must match")
    parser.add_argument("--again", action="store_true", help="begin anew, forgetting finished cases")
    parser.add_argument("--problems", action="store_true", help="run those with problems once more")
    parser.add_argument("--stale", action="store_true", help="run those that befell another commit once more, at last")
    parser.add_argument("--late", action="store_true", help="only those in which AWS shows something late")
    arguments = parser.parse_args()
    WORK.mkdir(parents=True, exist_ok=True)
    listed, finished = WORK / "work-list.json", WORK / "cases.jsonl"
    if arguments.again:
        listed.unlink(missing_ok=True)
        finished.unlink(missing_ok=True)
    if not (listed.exists() or arguments.late):
        listed.write_text(json.dumps([asdict(case) for case in record_all()]))
    recorded = [] if arguments.late else [Case(**case) for case in json.loads(listed.read_text())]
    cases = [*recorded, *late_cases()]
    lines_so_far = finished.read_text().splitlines() if finished.exists() else []
    verdicts = {found["id"]: Verdict(**found) for found in map(json.loads, lines_so_far)}
    done = {name for name, verdict in verdicts.items() if not (arguments.problems and verdict.problems)}
    missing = [case for case in cases if case.id not in done and re.search(arguments.only, case.id)]
    stale = {name for name in done if verdicts[name].commit != commit()} if arguments.stale else set()
    again = [case for case in cases if case.id in stale and re.search(arguments.only, case.id)]
    to_go = [*missing, *again]
    print(f"{len(cases)} cases, {len(to_go)} to go in {len(trials(missing)) + len(trials(again))} runs", flush=True)
    if arguments.list:
        print("\n".join(case.id for case in to_go))
        return 0
    with finished.open("a") as lines:
        for number, verdict in enumerate(chain(execute_all(missing), execute_all(again)), 1):
            verdicts[verdict.id] = verdict
            lines.write(json.dumps(asdict(verdict)) + "\n")
            lines.flush()
            print(
                f"{number}/{len(to_go)} {verdict.outcome or '-':9} {verdict.seconds:5.1f} s  {verdict.id}", flush=True
            )
            for problem in verdict.problems:
                print(f"      PROBLEM: {problem[:1000]}", flush=True)
    known = [verdicts[case.id] for case in cases if case.id in verdicts]
    if arguments.late:
        text = "\n".join(late(known))
    else:
        text = summary(known, cases=len(cases), at_once=CLOUDS_AT_ONCE * RUNS_PER_CLOUD)
    (WORK / "faults.md").write_text(text)
    print(text)
    return int(any(v.problems for v in known) or len(known) < len(cases))


if __name__ == "__main__":
    sys.exit(main())
