"""The glossary of the report: this project's terms, and ambiguous ones. docs/report.md has the same."""

GLOSSARY = {
    "matrix": "what you asked for: every storage with every workload on every fleet.",
    "cell": "one storage with one workload on one fleet. It is started, measured and retried as a whole.",
    "fleet": "the instances of one cell. All of them work at the same time.",
    "test point": "one combination of a workload's parameters, such as 4 threads and blocks of 1 MiB. "
    "A cell measures its test points one after another.",
    "step": "one test point in one repetition.",
    "sample": "one value of one metric, from one instance in one step.",
    "launch": 'everything of a cell started again on new instances; the matrix field is "launches". '
    "Launches show how much another day or other hardware changes.",
    "comparison": "the storages that were measured with the same workload, parameters and fleet.",
    "P50, P90": "half of the samples are at most P50, 90 % at most P90. P90 of durations and P10 of rates rank "
    "storages: 90 % of the samples are at least that good.",
    "95 % interval": "repeated runs would give an interval that holds the true value in 95 % of the cases.",
    "open": "the figures leave open whether the storage is within 5 % of the fastest, or cheaper than another one, so "
    "none is recommended.",
    "independent values": "samples that do not move together. Where all instances are slow or fast together, the "
    "samples of one repetition count as one value, so more repetitions or launches help and more instances do not.",
    "not replicated": "too few to test: fewer than three instances, or fewer than three repetitions. With several "
    "launches: fewer than three of them. The figures are only valid for this run.",
    "≥, ≤ and –": "too few samples for this percentile. ≥ 351: it is at least 351; ≤ 112: at most 112 (97.5 % "
    "confidence). –: too few to say more than the median does.",
    "start barrier": "instances wait until all are ready, then start at the same moment.",
    "bottleneck": "what limited the rate: the storage, the instance, or the load generator.",
    "load generator": "the program that makes the load, such as fio, dd or our own engine.",
    "steady": "the rate no longer changes: within the last part of a step it neither rose nor fell by more than a "
    "tenth (SNIA PTS).",
    "receipt": "every resource that the run created, and whether it is deleted.",
}
