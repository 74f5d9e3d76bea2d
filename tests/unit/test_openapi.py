"""The description of the API: written anew when it changes, and complete."""

from pathlib import Path

from pipeline.admin.api.document import document, document_text
from pipeline.admin.problems import PROBLEM

FILE = Path(__file__).parents[2] / "conf/openapi.json"


def test_the_file_is_the_one_the_code_gives() -> None:
    assert FILE.read_text() == document_text(), "write it anew: make openapi"


def test_every_operation_has_a_name_and_tells_its_problems() -> None:
    made = document()
    names = set()
    assert made["openapi"].startswith("3.1")
    for path, operations in made["paths"].items():
        for operation in operations.values():
            names.add(operation["operationId"])
            for status, response in operation["responses"].items():
                wanted = PROBLEM if int(status) >= 400 else "application/json"
                assert list(response["content"]) == [wanted], (path, status)
    assert len(names) == sum(len(each) for each in made["paths"].values())
    assert {"list_messages", "put_message", "cancel_message"} <= names
