"""The wheel has what the console needs beside its code."""

import zipfile
from pathlib import Path

import pytest

from pipeline.admin.console.render import _environment
from tests.acceptance.wheel import ROOT, build_wheel

CONSOLE = ROOT / "pipeline" / "admin" / "console"


def test_templates_styles_scripts_and_their_licence_are_in_the_wheel(tmp_path: Path) -> None:
    with zipfile.ZipFile(build_wheel(tmp_path)) as wheel:
        names = set(wheel.namelist())
    needed = [*CONSOLE.glob("templates/*.html"), *CONSOLE.glob("static/*")]
    assert len(needed) > 30
    assert {str(file.relative_to(ROOT)) for file in needed} <= names


@pytest.mark.parametrize("template", sorted(CONSOLE.glob("templates/*.html")), ids=lambda f: f.stem)
def test_every_template_can_be_read(template: Path) -> None:
    _environment().get_template(template.name)
