"""The layer check finds what it must: copies the tree, adds one forbidden include at a time, expects a complaint."""
import pathlib
import shutil
import subprocess
import sys
import tempfile

root = pathlib.Path(sys.argv[1])
CASES = [
    ("src/engine/source.cpp", "#include <shoal/privacy/event.hpp>", "engine may not include privacy"),
    ("include/shoal/engine/inspect.hpp", "#include <shoal/ledger/ledger.hpp>", "engine may not include ledger"),
    ("src/privacy/charge.cpp", "#include <shoal/mechanism/registry.hpp>", "privacy may not include mechanism"),
    ("src/plan/planner.cpp", "#include <shoal/engine/duckdb_engine.hpp>", "plan may not include engine"),
    ("src/base/text.cpp", "#include <shoal/numeric/directed.hpp>", "base may not include numeric"),
    ("src/plan/planner.cpp", '#include "engine/source.hpp"', "private header of another layer"),
    ("include/shoal/plan/plan.hpp", '#include "plan/filter.hpp"', "a public header includes a private one"),
    ("src/session/session.cpp", '#include "session/touch_key.hpp"', "only the paid flow may let"),
    ("src/learn/set.cpp", "template <typename Other>", "takes the rest of a variant"),
    ("src/CMakeLists.txt", "shoal_layer(plan2 USES base)\nshoal_layer(engine USES random)", "engine must never use random"),
]


def check(tree):
    return subprocess.run([sys.executable, tree / "scripts/check_layers.py", tree], capture_output=True, text=True)


with tempfile.TemporaryDirectory() as name:
    tree = pathlib.Path(name)
    for part in ("src", "include", "scripts"):
        shutil.copytree(root / part, tree / part)
    clean = check(tree)
    assert clean.returncode == 0, clean.stdout
    for path, line, complaint in CASES:
        original = (tree / path).read_text()
        (tree / path).write_text(original + "\n" + line + "\n")
        result = check(tree)
        assert result.returncode == 1, f"{line} in {path} was not caught"
        assert complaint in result.stdout, f"{line} in {path} gave: {result.stdout}"
        (tree / path).write_text(original)
    (tree / "src/attic").mkdir()
    assert "no layer of that name" in check(tree).stdout
print(f"{len(CASES) + 1} passed, 0 failed")
