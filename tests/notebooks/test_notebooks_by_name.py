"""The notebooks as on Databricks: a session is there, and only the names of the tables are set."""

from pathlib import Path

import nbformat
from making import DONE, FAR, NEAR, REFUSED, Made
from showing import FOLDER, PLOTS, Run

SCHEMA = "spark_catalog.looked"
# What the platform and the job did before: a session, and names for the tables of the state.
BEFORE = """
from pipeline.session import spark_session
from state.delta.register import register
from state.delta.tables import Tables

spark = spark_session("platform", "local[1]", {{"spark.sql.warehouse.dir": {warehouse!r}}})
spark.sql("CREATE SCHEMA looked")
register(spark, Tables({path!r}), {schema!r})
"""
AFTER = "spark.stop()"


def test_all_four_find_the_state_by_the_names_of_its_tables(
    run: Run, on_delta: Made, tmp_path: Path
) -> None:
    path = on_delta.variables["DUESTREAM_STATE__DELTA__PATH"]
    before = BEFORE.format(warehouse=str(tmp_path / "warehouse"), path=path, schema=SCHEMA)
    text = run(one_after_another(tmp_path, before), {}).checked(sum(PLOTS.values()))
    assert f"pending {NEAR + FAR + 4}" in text
    assert f"{NEAR + FAR + 3} messages" in text  # between two instants
    assert f"{3 + REFUSED} would be sent" in text
    assert f"{DONE} messages in" in text


def one_after_another(folder: Path, before: str) -> Path:
    """Write one notebook of all four: a session of its own for each would take a minute."""
    whole = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(before)])
    for file in sorted(FOLDER.glob("*.ipynb")):
        for cell in nbformat.read(file, as_version=4).cells:
            if cell.cell_type == "code":
                source = cell.source.replace("TABLES = None", f"TABLES = {SCHEMA!r}")
                whole.cells.append(nbformat.v4.new_code_cell(source))
    assert "".join(cell.source for cell in whole.cells).count(f"TABLES = {SCHEMA!r}") == len(PLOTS)
    whole.cells.append(nbformat.v4.new_code_cell(AFTER))
    nbformat.write(whole, folder / "all.ipynb")
    return folder / "all.ipynb"
