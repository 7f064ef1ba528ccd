#!/usr/bin/env python3
"""Fails if a built object uses randomness that is not the library's own: rand, random, drand48, <random>'s engines and
distributions, random_device.

  check_symbols.py FILE...     archives, objects or programs
"""
import re
import subprocess
import sys

BANNED = re.compile(
    r"\b(s?rand(om)?(_r)?|[delmnj]rand48|arc4random\w*)(@.*)?$"
    r"|std::(mersenne_twister_engine|linear_congruential_engine|subtract_with_carry_engine|random_device|\w+_distribution)\b"
)


def symbols(path):
    result = subprocess.run(["nm", "--demangle", path], capture_output=True, text=True, check=True)
    for line in result.stdout.splitlines():
        parts = line.split(maxsplit=2)
        if len(parts) >= 2 and not line.endswith(":"):
            yield parts[-1] if len(parts) == 3 else parts[1]


def main():
    found = [(path, name) for path in sys.argv[1:] for name in symbols(path) if BANNED.search(name)]
    for path, name in found:
        print(f"{path}: {name}")
    if not found:
        print(f"{len(sys.argv) - 1} files use no randomness but the library's own")
    return 1 if found or len(sys.argv) < 2 else 0


if __name__ == "__main__":
    sys.exit(main())
