#!/usr/bin/env python3
"""Holds every include to the layers of src/CMakeLists.txt.

A file of a layer may include public headers (<shoal/LAYER/...>) of its own layer and of those it uses, directly or
through them, and private headers ("LAYER/...") of its own layer alone. What is forbidden by name stays forbidden
however the lists change. Third-party headers of one layer's libraries are not looked at: linking does that.

Besides, some words stand in few files only (RESERVED), and no visitor takes whatever else a variant may hold: an
alternative that nobody listed must not compile.

  check_layers.py [ROOT]     exit 1 and one line a violation
"""
import pathlib
import re
import sys

FORBIDDEN = {
    "engine": {"random", "privacy", "ledger", "mechanism"},
    "privacy": {"mechanism"},
    "plan": {"engine", "data"},
    "sql": {"catalog", "data", "privacy", "numeric"},
}
# What may stand where: a pattern, the files that may have it, and why no other may.
RESERVED = (
    (re.compile(r"\bTouchKey\b|touch_key\.hpp"),
     {"src/session/touch_key.hpp", "src/session/paid_flow.cpp", "include/shoal/privacy/reservation.hpp"},
     "only the paid flow may let private data be read"),
    (re.compile(r"template <(typename|class) (Other|Rest)>|operator\(\)\(const auto&\)"), set(),
     "a visitor takes the rest of a variant; list its alternatives"),
)
# Doors see the session and what its headers show, never a private header.
DOORS = ("apps/cli",)


def declared_layers(root):
    text = (root / "src/CMakeLists.txt").read_text()
    layers = {}
    for name, rest in re.findall(r"shoal_layer\((\w+)([^)]*)\)", text):
        uses = re.search(r"USES ([a-z ]+)", rest)
        layers[name] = set(uses.group(1).split()) if uses else set()
    return layers


def reachable(layers, name):
    seen, todo = set(), [name]
    while todo:
        for used in layers[todo.pop()]:
            if used not in seen:
                seen.add(used)
                todo.append(used)
    return seen


def reserved_words(root):
    for top in ("src", "include", "apps"):
        for path in sorted((root / top).rglob("*.[ch]pp")):
            name = path.relative_to(root).as_posix()
            for number, line in enumerate(path.read_text().splitlines(), 1):
                for pattern, allowed, why in RESERVED:
                    if name not in allowed and pattern.search(line):
                        yield f"{name}:{number}: {why}"


def check(root):
    layers = declared_layers(root)
    violations = list(reserved_words(root))
    for name in layers:
        for banned in FORBIDDEN.get(name, set()) & (reachable(layers, name) | {name}):
            violations.append(f"src/CMakeLists.txt: {name} must never use {banned}")
    folders = [(name, root / top / name) for name in layers for top in ("src", "include/shoal")]
    for name, folder in folders:
        allowed = reachable(layers, name) | {name}
        for path in sorted(folder.rglob("*.[ch]pp")):
            for number, line in enumerate(path.read_text().splitlines(), 1):
                public = re.match(r'\s*#\s*include\s*[<"]shoal/(\w+)/', line)
                private = re.match(r'\s*#\s*include\s*"([^"]+)"', line)
                where = f"{path.relative_to(root)}:{number}"
                if public and public.group(1) not in allowed:
                    violations.append(f"{where}: {name} may not include {public.group(1)}")
                if private and not public and pathlib.PurePath(private.group(1)).parts[0] != name:
                    violations.append(f"{where}: private header of another layer: {private.group(1)}")
                if private and not public and "include/shoal" in str(path):
                    violations.append(f"{where}: a public header includes a private one: {private.group(1)}")
    for folder in (root / top for top in ("src", "include/shoal")):
        for path in sorted(folder.iterdir()):
            if path.is_dir() and path.name not in layers:
                violations.append(f"{path.relative_to(root)}: no layer of that name in src/CMakeLists.txt")
    return violations


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parent.parent).resolve()
    violations = check(root)
    for violation in violations:
        print(violation)
    if not violations:
        print(f"layers: clean ({len(declared_layers(root))} layers)")
    return 1 if violations else 0


if __name__ == "__main__":
    sys.exit(main())
