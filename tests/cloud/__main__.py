"""`python -m cloud up`: the local cloud of the tests, with the roles of the template enforced.

Beside the options here it takes those of `python -m local up`.
"""

import argparse
from pathlib import Path

from cloud.hooks import Proof
from local.__main__ import end_with, main


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(add_help=False, allow_abbrev=False)
    parser.add_argument("--faults", type=Path, help="rules of faults, read again when changed; see faults/injection.py")
    parser.add_argument("--record", type=Path, help="where to write all requests and responses; see recording.py")
    parser.add_argument(
        "--vcpu-quota", type=int, help="refuse launches above so many vCPUs, as an account's quota does"
    )
    parser.add_argument(
        "--new-account",
        dest="is_new_account",
        action="store_true",
        help="play an account opened today: 5 vCPUs, no instance types in the third zone",
    )
    parser.add_argument("--instances", choices=("process", "vm"), default="process", help="vm: emulated machines")
    return parser


if __name__ == "__main__":
    chosen, others = _parser().parse_known_args()
    end_with(main(others, Proof(**vars(chosen))))
