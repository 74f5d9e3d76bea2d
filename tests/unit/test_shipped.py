"""Whether the package runs from a wheel is told by where its modules lie."""

from pathlib import Path

from pipeline.shipped import wheel_of
from pipeline.submitted import is_submitted


def test_a_module_in_a_wheel_tells_which(tmp_path: Path) -> None:
    wheel = tmp_path / "duestream-1-py3-none-any.whl"
    wheel.write_bytes(b"")
    assert wheel_of(str(wheel / "pipeline" / "shipped.py")) == wheel


def test_a_module_in_a_folder_is_in_no_wheel(tmp_path: Path) -> None:
    (tmp_path / "unpacked.whl").mkdir()
    assert wheel_of(str(tmp_path / "unpacked.whl" / "pipeline" / "shipped.py")) is None
    assert wheel_of(__file__) is None


def test_spark_submit_is_known_by_what_it_leaves_in_the_environment() -> None:
    assert is_submitted({"PYSPARK_GATEWAY_PORT": "4711"})
    assert not is_submitted({"PATH": "/bin"})
