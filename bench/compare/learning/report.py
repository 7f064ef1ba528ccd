"""Makes a Markdown report of shoal.jsonl and peers.jsonl in a folder. Needs Python alone.

  report.py FOLDER
"""
import json
import pathlib
import sys


def main():
    folder = pathlib.Path(sys.argv[1])
    rows = [json.loads(line) for name in ("shoal.jsonl", "peers.jsonl")
            for line in (folder / name).read_text(encoding="utf-8").splitlines()]
    ours = rows[0]["seconds"]
    print("| contestant | processor time | against Shoal |\n|---|---|---|")
    for row in rows:
        if "error" in row:
            print(f"| {row['contestant']} | {row['error']} | |")
        else:
            print(f"| {row['contestant']} | {row['seconds'] * 1000:.1f} ms | {row['seconds'] / ours:.1f}x |")


if __name__ == "__main__":
    main()
