"""Forms of the values of fio's options, to refuse a wrong value before it fails on a rented fleet.

Forms are those of `fio --cmdhelp=OPTION` (3.33), but narrower if fio misreads a value: it reads `10Q` as 10 bytes,
`-4k` as 18 EB, `3.5k` as 3 bytes, and -1 as the largest number of its type.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Form:
    """A pattern that whole values match, the same in words, and an example."""

    pattern: str
    words: str
    example: str

    def is_of(self, value: object) -> bool:
        """Return whether a value, a text or a number, has this form."""
        return re.fullmatch(self.pattern, str(value), re.IGNORECASE) is not None


def _up_to_three(pattern: str) -> str:
    """One value, or one each for reads, writes and trims; some of the three may be left out but not all."""
    return rf"(?=.*[0-9])({pattern})?(,({pattern})?){{0,2}}"


_UNITS = ", in bytes or with k, m, g or t"
_SIZE = r"0*[1-9][0-9]{0,14}[kmgt]?(i?b)?"
_SIZE_OR_NONE = rf"0|{_SIZE}"
_PER_CENT = r"[1-9][0-9]?%|100%"
_WHOLE = r"[0-9]{1,18}"
_DECIMAL = r"[0-9]{1,9}(\.[0-9]{1,9})?"
_LIST = rf"{_DECIMAL}(:{_DECIMAL})*"
_TIME = r"[0-9]{1,12}(d|h|m|s|ms|msec|us|usec|ns|nsec)?"

_SIZES = Form(_up_to_three(_SIZE), f"one size, or one each for reads and writes{_UNITS}", "4k")
_RANGE = Form(rf"{_SIZE}-{_SIZE}(,{_SIZE}-{_SIZE}){{0,2}}", f"two sizes with - between them{_UNITS}", "4k-64k")
_SHARE = Form(rf"{_SIZE}|{_PER_CENT}", f"a size, or per cent of the disk{_UNITS}", "1G")
_FILE_SIZE = Form(rf"{_SIZE}(-{_SIZE})?", f"a size, or two with - between them{_UNITS}", "64m")
_PLACE = Form(rf"{_SIZE_OR_NONE}|{_PER_CENT}", f"a size or per cent{_UNITS}", "1G")
_STEP = Form(_SIZE_OR_NONE, f"a size{_UNITS}", "4k")
_RATES = Form(_up_to_three(_WHOLE), "a whole number, or one each for reads and writes", "1000")
_NUMBER = Form(rf"{_WHOLE}[kmg]?", "a whole number", "16")
_DURATION = Form(_TIME, "a time, such as 10us, 5ms or 2s", "5ms")
_SWITCH = Form("[01]", "1 or 0", "1")
_STEADY = Form(rf"(iops|bw)(_slope)?:{_DECIMAL}%?", "iops, iops_slope, bw or bw_slope, with : and its limit", "iops:5%")


def _choice(*values: str) -> Form:
    return Form("|".join(values), f"one of {', '.join(values)}", values[0])


FORMS: Mapping[str, Form] = {
    **dict.fromkeys(("bs", "blocksize", "ba", "blockalign", "rate", "rate_min"), _SIZES),
    "bsrange": _RANGE,
    # A share of each size takes a slash, which no value may have.
    "bssplit": Form(rf"{_SIZE}(:{_SIZE})*", f"sizes of equal shares with : between them{_UNITS}", "4k:64k"),
    **dict.fromkeys(("size", "io_size"), _SHARE),
    "filesize": _FILE_SIZE,
    **dict.fromkeys(("offset", "offset_increment"), _PLACE),
    **dict.fromkeys(("offset_align", "iomem_align", "buffer_compress_chunk"), _STEP),
    **dict.fromkeys(("rate_iops", "rate_iops_min"), _RATES),
    "percentage_random": Form(_up_to_three("[0-9]{1,2}|100"), "a whole number from 0 to 100", "50"),
    **dict.fromkeys(
        ("iodepth_batch", "iodepth_batch_submit", "iodepth_batch_complete", "iodepth_batch_complete_min",
         "iodepth_batch_complete_max", "iodepth_low", "fsync", "fdatasync", "openfiles", "thinktime_blocks",
         "rate_cycle", "number_ios", "randseed"), _NUMBER,
    ),
    **dict.fromkeys(
        ("thinktime", "thinktime_spin", "max_latency", "latency_target", "latency_window", "ss_dur", "ss_ramp",
         "steadystate_duration", "steadystate_ramp_time"), _DURATION,
    ),
    **dict.fromkeys(
        ("allrandrepeat", "bs_is_seq_rand", "bs_unaligned", "buffered", "create_fsync", "create_on_open",
         "create_serialize", "direct", "end_fsync", "exitall_on_error", "fill_device", "fsync_on_close",
         "group_reporting", "invalidate", "latency_run", "norandommap", "overwrite", "pre_read", "randrepeat",
         "refill_buffers", "scramble_buffers", "slat_percentiles", "softrandommap", "thread", "time_based",
         "zero_buffers"), _SWITCH,
    ),
    "latency_percentile": Form(_DECIMAL, "a percentile", "99"),
    "percentile_list": Form(_LIST, "percentiles with : between them", "99:99.9"),
    **dict.fromkeys(("ss", "steadystate"), _STEADY),
    "random_distribution": Form(
        rf"(random|zipf|pareto|normal)(:{_LIST})?", "random, zipf, pareto or normal, with : and its figure", "zipf:1.2"
    ),
    "file_service_type": Form(
        rf"(random|zipf|pareto|normal|gauss|roundrobin|sequential)(:{_DECIMAL})?",
        "random, zipf, pareto, normal, gauss, roundrobin or sequential, with : and its figure", "roundrobin",
    ),
    "sync_file_range": Form(
        rf"(wait_before|write|wait_after)(,(wait_before|write|wait_after))*:{_WHOLE}",
        "wait_before, write or wait_after, with : and a number of writes", "write:8",
    ),
    "buffer_pattern": Form("0x[0-9a-f]+|[0-9]+", "a number, best in hexadecimal", "0xdeadbeef"),
    "clocksource": _choice("gettimeofday", "clock_gettime", "cpu"),
    "fallocate": _choice("none", "native", "posix", "keep", "truncate", "0", "1"),
    "io_submit_mode": _choice("inline", "offload"),
    "rate_process": _choice("linear", "poisson"),
    "random_generator": _choice("tausworthe", "lfsr", "tausworthe64"),
    "rw_sequencer": _choice("sequential", "identical"),
    "thinktime_blocks_type": _choice("complete", "issue"),
    "sync": _choice("none", "sync", "dsync", "0", "1"),
    "kb_base": _choice("1024", "1000"),
}  # fmt: skip
