"""Answers one task with one peer and prints a line of JSON: seconds, processor seconds, memory, the answer.

  peers.py PEER TASK FOLDER

FOLDER has events.parquet (user_id, grp, value) and people.parquet (user_id, region). Epsilon is 1, delta 1e-6, for one
person present or absent; of each person 3 groups count and 10 rows of each; values are clamped to 0..100. A peer that
has no such question says "refused"; nothing is emulated. `start` is what comes before the question: imports, a session, the
Java machine. Tasks: counts by public key (T1), counts, sums and means by unknown key (T2), quartiles (T3), counts by a column
of a table joined on the person (T4), small questions one after the other (T5, seconds are of one).
"""
import json
import os
import pathlib
import sys
import time

EPSILON, DELTA, GROUPS, ROWS, LOWER, UPPER = 1.0, 1e-6, 3, 10, 0.0, 100.0
KEYS = list(range(100))
REGIONS = ["north", "east", "south", "west"]
SMALL = 5  # questions of T5


class Refused(Exception):
    pass


def family():
    """This process and all below it: id -> (processor seconds, resident bytes)."""
    parents, used = {}, {}
    ticks, page = os.sysconf("SC_CLK_TCK"), os.sysconf("SC_PAGE_SIZE")
    for entry in pathlib.Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            fields = (entry / "stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue
        parents[int(entry.name)] = int(fields[1])
        used[int(entry.name)] = (sum(map(int, fields[11:15])) / ticks, int(fields[21]) * page)
    mine = {}
    for process in used:
        at = process
        while at in parents and at != os.getpid():
            at = parents[at]
        if at == os.getpid():
            mine[process] = used[process]
    return mine


def processor():
    return sum(seconds for seconds, _ in family().values())


class OpenDP:
    """OpenDP with Polars; it lets a person's rows be sampled group by group, then the groups."""

    def __init__(self, folder):
        import opendp.prelude as dp
        import polars as pl

        dp.enable_features("contrib", "honest-but-curious")
        self.dp, self.pl, self.folder = dp, pl, folder

    def query(self, source, delta, parts=1):
        dp = self.dp
        context = dp.Context.compositor(
            data=source,
            privacy_unit=dp.unit_of(contributions=1, identifier=self.pl.col("user_id")),
            privacy_loss=dp.loss_of(epsilon=EPSILON, delta=delta),
            split_evenly_over=parts,
            margins=[dp.polars.Margin(by=by, max_length=100_000_000, max_groups=100_000) for by in ([], ["grp"])],
        )
        return context

    def events(self):
        return self.pl.scan_parquet(self.folder / "events.parquet").select("user_id", "grp", "value")

    def bounded(self, query, key):
        # The default, a sample of the groups, fails with 0.16.0: Polars finds a name twice.
        return query.truncate_per_group(ROWS, by=[key]).truncate_num_groups(GROUPS, by=[key], keep="first")

    def t1(self):
        keys = self.pl.LazyFrame({"grp": self.pl.Series(KEYS, dtype=self.pl.Int32)})
        query = self.bounded(self.query(self.events(), 0.0).query(), "grp")
        out = query.group_by("grp").agg(self.dp.len()).with_keys(keys).release().collect()
        return {str(row["grp"]): [row["len"]] for row in out.to_dicts()}

    def t2(self):
        # In hundredths: its sums of floating-point numbers of so many rows have a noise of millions.
        cents = (self.pl.col("value") * 100).cast(self.pl.Int64, strict=False).fill_null(0)
        query = self.bounded(self.query(self.events(), DELTA).query(), "grp")
        asked = query.group_by("grp").agg(self.dp.len(), cents.dp.sum(bounds=(0, 10_000)).alias("sum"))
        out = asked.release().collect()
        return {str(r["grp"]): [r["len"], r["sum"] / 100, r["sum"] / 100 / max(r["len"], 1)] for r in out.to_dicts()}

    def t3(self):
        grid = [i / 4 for i in range(401)]
        value = self.pl.col("value").fill_nan(0.0).fill_null(0.0)
        query = self.query(self.events(), 0.0).query().truncate_per_group(ROWS)
        asked = query.select(*[value.dp.quantile(q, grid).alias(str(q)) for q in (0.25, 0.5, 0.75)])
        return {"all": list(asked.release().collect().row(0))}

    def t4(self):
        raise Refused("no join of two private tables")

    def t5(self):
        context = self.query(self.events(), 0.0, SMALL)
        for i in range(SMALL):
            query = context.query().filter(self.pl.col("grp") == i).truncate_per_group(ROWS)
            query.select(self.dp.len()).release().collect()
        return {}


class SmartNoise:
    """SmartNoise SQL over its reader for pandas. It limits the rows of a person and not the groups."""

    def __init__(self, folder):
        import pandas
        import snsql

        self.snsql, self.frame = snsql, pandas.read_parquet(folder / "events.parquet", columns=["user_id", "grp", "value"])
        column = {"type": "float", "lower": LOWER, "upper": UPPER}
        self.meta = {"": {"db": {"events": {
            "max_ids": GROUPS, "sample_max_ids": True, "clamp_counts": False, "censor_dims": True,
            "user_id": {"private_id": True, "type": "int"}, "grp": {"type": "int"}, "value": column}}}}

    def ask(self, sql, parts=1):
        privacy = self.snsql.Privacy(epsilon=EPSILON / parts, delta=DELTA)
        return self.snsql.from_df(self.frame, metadata=self.meta, privacy=privacy).execute(sql)[1:]

    def t1(self):
        raise Refused("no public keys")

    def t2(self):
        # Each of the columns costs what is asked; the mean costs two.
        rows = self.ask("SELECT grp, COUNT(*) AS n, SUM(value) AS s, AVG(value) AS m FROM db.events GROUP BY grp", 4)
        return {str(row[0]): [float(x or 0) for x in row[1:]] for row in rows}

    def t3(self):
        raise Refused("no quantiles")

    def t4(self):
        raise Refused("joins are disabled")

    def t5(self):
        for i in range(SMALL):
            self.ask(f"SELECT COUNT(*) AS n FROM db.events WHERE grp = {i}", SMALL)
        return {}


def spark(name):
    from pyspark.sql import SparkSession

    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    builder = SparkSession.builder.master("local[2]").appName(name)
    for key, value in {"spark.driver.memory": "6g", "spark.ui.enabled": "false", "spark.sql.shuffle.partitions": "8",
                       "spark.sql.warehouse.dir": "/tmp/spark_warehouse"}.items():
        builder = builder.config(key, value)
    session = builder.getOrCreate()
    session.sparkContext.setLogLevel("OFF")
    return session


class Tumult:
    """Tumult Analytics on local Spark."""

    def __init__(self, folder):
        self.spark = spark("tumult")
        from tmlt.analytics import (AddRowsWithID, ApproxDPBudget, KeySet, MaxGroupsPerID, MaxRowsPerGroupPerID,
                                    MaxRowsPerID, QueryBuilder, Session)

        self.api = dict(locals())
        self.events = self.spark.read.parquet(str(folder / "events.parquet")).select("user_id", "grp", "value")
        self.people = self.spark.read.parquet(str(folder / "people.parquet"))
        builder = Session.Builder().with_privacy_budget(ApproxDPBudget(EPSILON, DELTA)).with_id_space("people")
        for name in ("events", "people"):
            builder = builder.with_private_dataframe(
                name, getattr(self, name), protected_change=AddRowsWithID("user_id", id_space="people"))
        self.session = builder.build()
        self.budget = ApproxDPBudget

    def builder(self, key=None):
        api, query = self.api, self.api["QueryBuilder"]("events")
        if key is None:
            return query.enforce(api["MaxRowsPerID"](ROWS))
        return query.enforce(api["MaxGroupsPerID"](key, GROUPS)).enforce(api["MaxRowsPerGroupPerID"](key, ROWS))

    def keys(self, name, values):
        return self.api["KeySet"].from_dict({name: values})

    def evaluate(self, query, epsilon, delta=0):
        return self.session.evaluate(query, self.budget(epsilon, delta)).toPandas()

    def t1(self):
        out = self.evaluate(self.builder("grp").groupby(self.keys("grp", KEYS)).count(), EPSILON)
        return {str(key): [n] for key, n in zip(out["grp"], out["count"])}

    def t2(self):
        # Keys first, with a quarter; then three answers.
        found = self.evaluate(self.builder("grp").get_groups(["grp"]), EPSILON / 4, DELTA)
        keys = self.keys("grp", [int(key) for key in found["grp"]])
        answer = {str(key): [] for key in found["grp"]}
        bounded = self.builder("grp").replace_null_and_nan({"value": 0.0}).groupby(keys)
        for query, name in ((bounded.count(), "count"), (bounded.sum("value", LOWER, UPPER), "value_sum"),
                            (bounded.average("value", LOWER, UPPER), "value_average")):
            out = self.evaluate(query, EPSILON / 4)
            for key, number in zip(out["grp"], out[name]):
                answer[str(key)].append(float(number))
        return answer

    def t3(self):
        out = []
        for q in (0.25, 0.5, 0.75):
            query = self.builder().replace_null_and_nan({"value": 0.0}).quantile("value", q, LOWER, UPPER)
            out.append(float(self.evaluate(query, EPSILON / 3).iloc[0, 0]))
        return {"all": out}

    def t4(self):
        api = self.api
        query = self.builder().join_private("people", join_columns=["user_id"])
        query = query.enforce(api["MaxRowsPerID"](ROWS)).groupby(self.keys("region", REGIONS)).count()
        out = self.evaluate(query, EPSILON)
        return {str(key): [n] for key, n in zip(out["region"], out["count"])}

    def t5(self):
        for i in range(SMALL):
            self.evaluate(self.builder().filter(f"grp = {i}").count(), EPSILON / SMALL)
        return {}


class PipelineDP:
    """PipelineDP on local Spark."""

    def __init__(self, folder):
        self.spark = spark("pipelinedp")
        import pipeline_dp

        self.dp = pipeline_dp
        self.events = self.spark.read.parquet(str(folder / "events.parquet")).select("user_id", "grp", "value").rdd

    def aggregate(self, metrics, partition, keys, rows=None, epsilon=EPSILON):
        dp = self.dp
        accountant = dp.NaiveBudgetAccountant(total_epsilon=epsilon, total_delta=DELTA)
        engine = dp.DPEngine(accountant, dp.SparkRDDBackend(self.spark.sparkContext))
        params = dp.AggregateParams(
            metrics=metrics, noise_kind=dp.NoiseKind.LAPLACE, max_partitions_contributed=GROUPS,
            max_contributions_per_partition=ROWS, min_value=LOWER, max_value=UPPER)
        extract = dp.DataExtractors(privacy_id_extractor=lambda row: row[0], partition_extractor=partition,
                                    value_extractor=lambda row: row[2])
        result = engine.aggregate(rows if rows is not None else self.events, params, extract, public_partitions=keys)
        accountant.compute_budgets()
        return result.collect()

    def t1(self):
        out = self.aggregate([self.dp.Metrics.COUNT], lambda row: row[1], KEYS)
        return {str(key): [value.count] for key, value in out}

    def t2(self):
        metrics = self.dp.Metrics
        out = self.aggregate([metrics.COUNT, metrics.SUM, metrics.MEAN], lambda row: row[1], None)
        return {str(key): [value.count, value.sum, value.mean] for key, value in out}

    def t3(self):
        metrics = [self.dp.Metrics.PERCENTILE(q) for q in (25, 50, 75)]
        out = self.aggregate(metrics, lambda row: 0, [0])
        return {"all": [out[0][1].percentile_25, out[0][1].percentile_50, out[0][1].percentile_75]}

    def t4(self):
        raise Refused("no join of two private collections")

    def t5(self):
        for i in range(SMALL):
            rows = self.events.filter(lambda row, wanted=i: row[1] == wanted)
            self.aggregate([self.dp.Metrics.COUNT], lambda row: 0, [0], rows, EPSILON / SMALL)
        return {}


PEERS = {"opendp": OpenDP, "smartnoise-sql": SmartNoise, "tmlt.analytics": Tumult, "pipeline-dp": PipelineDP}


def main():
    name, task, folder = sys.argv[1], sys.argv[2], pathlib.Path(sys.argv[3])
    line = {"contestant": name, "task": task}
    begin = time.monotonic()
    try:
        peer = PEERS[name](folder)
        line["start"] = time.monotonic() - begin
        used, begin = processor(), time.monotonic()
        line["answer"] = getattr(peer, task)()
        share = SMALL if task == "t5" else 1
        line["wall"] = (time.monotonic() - begin) / share
        line["processor"] = (processor() - used) / share
        line["memory"] = sum(resident for _, resident in family().values())
    except Refused as refusal:
        line["refused"] = str(refusal)
    except Exception as failure:  # a peer's own failure is a result too
        line["failed"] = f"{type(failure).__name__}: {failure}".replace("\n", " ")[:300]
    print(json.dumps(line), flush=True)
    os._exit(0)


main()
