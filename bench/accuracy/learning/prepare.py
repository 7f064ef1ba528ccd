"""Makes one data set ready: train.csv, test.csv and policy.toml in a folder. Needs Python alone.

  prepare.py NAME DATA FOLDER    NAME: adult, bank, credit, kdd, housing, mnist; DATA: the folder with the public files

Public facts (bounds, categories, the drop of rows with "?") are written here by hand or, for lists of categories, taken
from all rows: they are those of the publishers' descriptions, not learnt from anybody. The split is 80 / 20 by a fixed
shuffle.
"""
import csv
import gzip
import pathlib
import random
import sys

ADULT = ["age", "workclass", "fnlwgt", "education", "education_num", "marital_status", "occupation", "relationship",
         "race", "sex", "capital_gain", "capital_loss", "hours_per_week", "native_country", "income"]
ADULT_BOUNDS = {"age": (0, 90), "fnlwgt": (0, 1490400), "education_num": (0, 16), "capital_gain": (0, 99999),
                "capital_loss": (0, 4356), "hours_per_week": (0, 99)}
BANK_BOUNDS = {"age": (18, 100), "balance": (-10000, 110000), "day": (1, 31), "duration": (0, 5000), "campaign": (1, 65),
               "pdays": (-1, 900), "previous": (0, 60)}
CREDIT_BOUNDS = {"LIMIT_BAL": (0, 1000000), "AGE": (18, 100),
                 **{f"PAY_{i}": (-2, 9) for i in (0, 2, 3, 4, 5, 6)},
                 **{f"BILL_AMT{i}": (-400000, 1000000) for i in range(1, 7)},
                 **{f"PAY_AMT{i}": (0, 1000000) for i in range(1, 7)}}
HOUSING_BOUNDS = {"longitude": (-125, -114), "latitude": (32, 42), "housing_median_age": (0, 52),
                  "total_rooms": (0, 40000), "total_bedrooms": (0, 7000), "population": (0, 36000),
                  "households": (0, 6500), "median_income": (0, 15.0001), "median_house_value": (0, 500001)}
KDD = ("duration protocol_type service flag src_bytes dst_bytes land wrong_fragment urgent hot num_failed_logins logged_in "
       "num_compromised root_shell su_attempted num_root num_file_creations num_shells num_access_files num_outbound_cmds "
       "is_host_login is_guest_login count srv_count serror_rate srv_serror_rate rerror_rate srv_rerror_rate same_srv_rate "
       "diff_srv_rate srv_diff_host_rate dst_host_count dst_host_srv_count dst_host_same_srv_rate dst_host_diff_srv_rate "
       "dst_host_same_src_port_rate dst_host_srv_diff_host_rate dst_host_serror_rate dst_host_srv_serror_rate "
       "dst_host_rerror_rate dst_host_srv_rerror_rate label").split()
KDD_WIDE = {"duration": 58329, "src_bytes": 693375640, "dst_bytes": 5155468, "wrong_fragment": 3, "urgent": 3, "hot": 30,
            "num_failed_logins": 5, "num_compromised": 884, "su_attempted": 2, "num_root": 993, "num_file_creations": 28,
            "num_shells": 2, "num_access_files": 8, "count": 511, "srv_count": 511, "dst_host_count": 255,
            "dst_host_srv_count": 255}
KDD_ROWS = 70000  # of the ten-percent file, without replacement


def adult(data):
    rows = []
    for name in ("adult-train.csv", "adult-test.csv"):
        with open(data / name, newline="", encoding="utf-8") as file:
            for row in csv.reader(file, skipinitialspace=True):
                if len(row) == len(ADULT) and "?" not in row:
                    rows.append([field.strip().rstrip(".") for field in row])
    return ADULT, ADULT_BOUNDS, rows


def with_header(path):
    with open(path, newline="", encoding="utf-8") as file:
        header, *rows = csv.reader(file)
    return header, rows


def bank(data):
    header, rows = with_header(data / "bank-full.csv")
    return header, BANK_BOUNDS, rows


def credit(data):
    header, rows = with_header(data / "credit-card-clients.csv")
    return header, CREDIT_BOUNDS, rows


def housing(data):
    header, rows = with_header(data / "california_housing.csv")
    return header, HOUSING_BOUNDS, rows


def kdd(data):
    with gzip.open(data / "kddcup.data_10_percent.gz", "rt", encoding="utf-8") as file:
        rows = list(csv.reader(file))
    rows = random.Random(7).sample(rows, KDD_ROWS)
    for row in rows:
        row[-1] = "normal" if row[-1] == "normal." else "attack"
    words = {"protocol_type", "service", "flag", "label"}
    return KDD, {name: (0, KDD_WIDE.get(name, 1)) for name in KDD if name not in words}, rows


def mnist(data):
    """The ten thousand digits of the test file: pixels from 0 to 255, and which digit it is."""
    with gzip.open(data / "mnist-t10k-images-idx3-ubyte.gz", "rb") as file:
        pixels = file.read()[16:]
    with gzip.open(data / "mnist-t10k-labels-idx1-ubyte.gz", "rb") as file:
        labels = file.read()[8:]
    size = 28 * 28
    rows = [[*pixels[i * size:(i + 1) * size], str(label)] for i, label in enumerate(labels)]
    names = [f"pixel{i}" for i in range(size)]
    return [*names, "digit"], {name: (0, 255) for name in names}, rows


def write_csv(path, header, rows):
    with open(path, "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(header)
        writer.writerows(rows)


def quoted(value):
    return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'


def policy(name, header, bounds, rows):
    lines = [f'[dataset]\nname = "{name}"\nlineage = "{name}-bench"\n',
             '[privacy]\nunit = "row"\nneighbors = "add_remove"\n',
             '[budget]\nepsilon = 1000\ndelta = 0.001\nledger = "bench.ledger"\n',
             '[table.rows]\nsource = "train.csv"\nformat = "csv"\n']
    for place, column in enumerate(header):
        lines.append(f"[table.rows.column.{quoted(column)}]")
        if column in bounds:
            lower, upper = bounds[column]
            lines.append(f'type = "real"\nbounds = [{lower}, {upper}]\n')
        else:
            listed = ", ".join(quoted(value) for value in sorted({row[place] for row in rows}))
            lines.append(f'type = "text"\ncategories = [{listed}]\n')
    return "\n".join(lines)


def main():
    name, data, folder = sys.argv[1], pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3])
    known = {"adult": adult, "bank": bank, "credit": credit, "kdd": kdd, "housing": housing, "mnist": mnist}
    header, bounds, rows = known[name](data)
    folder.mkdir(parents=True, exist_ok=True)
    random.Random(1).shuffle(rows)
    cut = len(rows) * 4 // 5
    write_csv(folder / "train.csv", header, rows[:cut])
    write_csv(folder / "test.csv", header, rows[cut:])
    (folder / "policy.toml").write_text(policy(name, header, bounds, rows), encoding="utf-8")
    print(f"{name}: {cut} rows to train, {len(rows) - cut} to test")


if __name__ == "__main__":
    main()
