"""Cuts a public table into codes for accuracy_synth: OUT.csv and OUT-domain.json. Needs Python alone.

  prepare.py bank|credit FOLDER OUT

bank: bank-full.csv (17 columns); credit: credit-card-clients.csv (24 columns). Numbers are cut into 16 bins
between the bounds below, which are round numbers, or one bin a value where there are fewer; words are coded by the
alphabet.
"""
import csv
import json
import pathlib
import sys

BINS = 16
BANK = {"age": (16, 96), "balance": (-2000, 14000), "day": (1, 32), "duration": (0, 1600), "campaign": (1, 17),
        "pdays": (-1, 399), "previous": (0, 16)}
CREDIT = {"LIMIT_BAL": (0, 800000), "AGE": (20, 84)}
CREDIT.update({f"PAY_{i}": (-2, 9) for i in (0, 2, 3, 4, 5, 6)})
CREDIT.update({f"BILL_AMT{i}": (-40000, 280000) for i in range(1, 7)})
CREDIT.update({f"PAY_AMT{i}": (0, 32000) for i in range(1, 7)})
TABLES = {"bank": ("bank-full.csv", BANK), "credit": ("credit-card-clients.csv", CREDIT)}


def code(value, low, high):
    bins = min(BINS, high - low)
    return max(0, min(bins - 1, int((float(value) - low) * bins // (high - low))))


def main():
    name, folder, out = sys.argv[1:4]
    file_name, bounds = TABLES[name]
    with open(pathlib.Path(folder) / file_name, encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    coded, domain = {}, {}
    for column in rows[0]:
        if column in bounds:
            low, high = bounds[column]
            coded[column] = [code(row[column], low, high) for row in rows]
            domain[column] = min(BINS, high - low)
        else:
            words = sorted({row[column] for row in rows})
            places = {word: i for i, word in enumerate(words)}
            coded[column] = [places[row[column]] for row in rows]
            domain[column] = len(words)
    with open(f"{out}.csv", "w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(coded)
        writer.writerows(zip(*coded.values()))
    with open(f"{out}-domain.json", "w", encoding="utf-8") as file:
        json.dump(domain, file)
    print(f"{len(rows)} rows, sizes {list(domain.values())}")


if __name__ == "__main__":
    main()
