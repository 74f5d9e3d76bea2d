"""Java and the jars are found, or one sentence says what to do."""

import os
import re
import threading
from pathlib import Path

import pytest

from pipeline import jvm
from pipeline.ivy import Ivy, proxy_flags
from state.errors import SetupError

SAYS = '#!/bin/sh\necho "    java.home = /fake" >&2\necho "    java.version = {version}" >&2\n'


def fake_java(folder: Path, version: str) -> dict[str, str]:
    java = folder / "bin" / "java"
    java.parent.mkdir(parents=True)
    java.write_text(SAYS.format(version=version))
    java.chmod(0o755)
    return {"JAVA_HOME": str(folder), "PATH": os.environ["PATH"]}


@pytest.mark.parametrize(
    ("version", "major"), [("17.0.15", 17), ("1.8.0_402", 8), ("21", 21), ("25-ea", 25)]
)
def test_a_version_is_known_by_its_number(version: str, major: int) -> None:
    assert jvm.major_version(version) == major


def test_the_java_of_this_machine_will_do() -> None:
    assert jvm.check_java().name == "java"
    assert (jvm.java_home() / "bin" / "java").exists()


def test_java_home_goes_before_the_path(tmp_path: Path) -> None:
    environ = fake_java(tmp_path, "17.0.1")
    assert jvm.check_java(environ) == tmp_path / "bin" / "java"
    assert jvm.java_home(environ) == Path("/fake")


def test_a_java_home_without_java_is_told(tmp_path: Path) -> None:
    with pytest.raises(SetupError, match=r"JAVA_HOME is .*, where there is no bin/java; install"):
        jvm.check_java({"JAVA_HOME": str(tmp_path)})


def test_no_java_at_all_is_told(tmp_path: Path) -> None:
    with pytest.raises(SetupError, match=r"^Java is not installed; install Java 17 or 21"):
        jvm.check_java({"PATH": str(tmp_path)})


def test_an_old_java_is_told(tmp_path: Path) -> None:
    with pytest.raises(SetupError, match=r"is Java 11\.0\.2, and Spark needs 17; install"):
        jvm.check_java(fake_java(tmp_path, "11.0.2"))


def test_a_newer_java_goes_on_with_a_word(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    jvm.check_java(fake_java(tmp_path, "26.0.1"))
    assert "newer than the tested 21" in capsys.readouterr().err


def test_a_java_that_does_not_start_is_told(tmp_path: Path) -> None:
    environ = fake_java(tmp_path, "17")
    (tmp_path / "bin" / "java").write_text("#!/bin/sh\nexit 1\n")
    with pytest.raises(SetupError, match="does not start"):
        jvm.check_java(environ)


def test_the_cache_is_where_the_user_says() -> None:
    assert jvm.cache_folder({"DUESTREAM_CACHE": "/c"}) == Path("/c")
    assert jvm.cache_folder({"XDG_CACHE_HOME": "/x"}) == Path("/x/duestream")
    assert jvm.cache_folder({}) == Path.home() / ".cache" / "duestream"


def name_of(jar: Path) -> str:
    return re.sub(r"-\d+\.\d.*", "", jar.name)


def test_spark_is_given_only_what_it_lacks() -> None:
    import pyspark

    has = {name_of(jar) for jar in (Path(pyspark.__file__).parent / "jars").glob("*.jar")}
    given = {name_of(jar) for jar in jvm.spark_jars()}
    assert {"kafka-clients", "delta-spark_4.2_2.13", "spark-sql-kafka-0-10_2.13"} <= given
    assert not given & has


def test_the_broker_has_a_classpath_of_its_own() -> None:
    names = {name_of(jar) for jar in jvm.broker_jars().glob("*.jar")}
    assert {"kafka_2.13", "log4j-slf4j-impl"} <= names
    assert not names & {"spark-sql-kafka-0-10_2.13", "delta-spark_4.2_2.13"}


EMPTY = (
    '<ivy-module version="2.0"><info organisation="o" module="m"/>'
    '<configurations><conf name="some"/></configurations><dependencies>{0}</dependencies>'
    "</ivy-module>"
)


def ivy(folder: Path, dependencies: str = "") -> Ivy:
    file = folder / "jars.xml"
    file.write_text(EMPTY.format(dependencies))
    return Ivy(jvm.check_java, file, folder / "cache")


def repository(folder: Path) -> None:
    """Put a Maven repository with one jar in a folder, and tell Ivy of it."""
    home = folder / "repository" / "o" / "one" / "1"
    home.mkdir(parents=True)
    (home / "one-1.jar").write_bytes(b"jar")
    (home / "one-1.pom").write_text(
        "<project><modelVersion>4.0.0</modelVersion><groupId>o</groupId>"
        "<artifactId>one</artifactId><version>1</version></project>"
    )
    (folder / "cache").mkdir()
    root = (folder / "repository").as_uri()
    (folder / "cache" / "ivysettings.xml").write_text(
        '<ivysettings><settings defaultResolver="r"/><resolvers>'
        f'<ibiblio name="r" m2compatible="true" root="{root}/"/></resolvers></ivysettings>'
    )


ONE = '<dependency org="o" name="{0}" rev="1" conf="some->default"/>'


def test_jars_are_fetched_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    repository(tmp_path)
    folder = ivy(tmp_path, ONE.format("one")).folder("some")
    assert [jar.name for jar in folder.iterdir()] == ["one-1.jar"]
    assert "once" in capsys.readouterr().err
    assert ivy(tmp_path, ONE.format("one")).folder("some") == folder
    assert capsys.readouterr().err == ""
    assert [path.name for path in folder.parent.iterdir()] == ["some"]


def test_two_may_fetch_at_once(tmp_path: Path) -> None:
    repository(tmp_path)
    it = ivy(tmp_path, ONE.format("one"))
    threads = [threading.Thread(target=it.folder, args=["some"]) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [jar.name for jar in it.folder("some").iterdir()] == ["one-1.jar"]
    assert [path.name for path in it.folder("some").parent.iterdir()] == ["some"]


def test_a_jar_that_cannot_be_had_is_named(tmp_path: Path) -> None:
    repository(tmp_path)
    it = ivy(tmp_path, ONE.format("two"))
    with pytest.raises(SetupError, match=r"jars for some could not be fetched \(.*o#two;1"):
        it.folder("some")
    assert not any(it._home().iterdir())


def test_a_cache_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    (tmp_path / "cache").write_text("a file, not a folder")
    with pytest.raises(SetupError, match=r"cannot be written .*; set DUESTREAM_CACHE"):
        ivy(tmp_path).folder("some")


def test_the_proxy_of_the_environment_is_told_to_java() -> None:
    flags = proxy_flags({"HTTPS_PROXY": "http://proxy.example:3128", "http_proxy": "plain:80"})
    assert flags == [
        "-Dhttps.proxyHost=proxy.example",
        "-Dhttps.proxyPort=3128",
        "-Dhttp.proxyHost=plain",
        "-Dhttp.proxyPort=80",
    ]
    assert proxy_flags({}) == []


def test_the_check_of_a_machine_ends_in_one_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    with pytest.raises(SystemExit, match=r"^error: JAVA_HOME is "):
        jvm.main()
