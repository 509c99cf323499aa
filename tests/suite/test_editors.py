import json

import pytest

from scisolve_batch.documents import read_document
from scisolve_batch.suite import bundled_suite, json_schema
from scisolve_batch.suite.schema import ProblemEntry, SuiteEntry, significant_digits

SUITES = bundled_suite("core").parent
FOLDERS = {"problems": "problem", "solutions": "script", "naive": "script", "faults": "script"}


@pytest.mark.parametrize("kind", ["suite", "problem", "script"])
def test_the_shipped_schema_is_the_one_of_the_loader(kind):
    shipped = json.loads((SUITES / "schema" / f"{kind}.json").read_text())
    assert shipped == json_schema(kind)


def test_a_schema_knows_every_key_and_refuses_others():
    for kind, model in (("suite", SuiteEntry), ("problem", ProblemEntry)):
        schema = json_schema(kind)
        assert set(schema["properties"]) == set(model.model_fields)
        assert schema["additionalProperties"] is False
        assert all("description" in key for key in schema["properties"].values())


def test_every_reference_inside_a_schema_leads_somewhere():
    for kind in ("suite", "problem", "script"):
        schema = json_schema(kind)
        text = json.dumps(schema)
        names = {part.split('"')[0] for part in text.split('"#/$defs/')[1:]}
        assert names <= set(schema["$defs"])


def test_every_bundled_file_leads_an_editor_to_its_schema():
    for file in SUITES.glob("*.yaml"):
        assert file.read_text().startswith("# yaml-language-server: $schema=schema/suite.json\n")
    for folder, kind in FOLDERS.items():
        line = f"# yaml-language-server: $schema=../schema/{kind}.json\n"
        for file in (SUITES / folder).glob("*.yaml"):
            assert file.read_text().startswith(line), file


def test_no_bundled_file_is_left_over():
    problems = {file.stem for file in (SUITES / "problems").glob("*.yaml")}
    for folder in ("solutions", "naive"):
        assert {file.stem for file in (SUITES / folder).glob("*.yaml")} <= problems
    named = {
        entry["file"].split("/")[-1]
        for file in (SUITES / "problems").glob("*.yaml")
        for entry in read_document(file).data.get("data", [])
    }
    assert {file.name for file in (SUITES / "data").iterdir()} == named


@pytest.mark.parametrize(
    ("text", "digits"),
    [("0.0120", 3), ("-12", 2), ("1.50e-7", 3), ("0", 1), ("0.00", 1), ("1200", 4)],
)
def test_significant_digits_are_counted_as_written(text, digits):
    assert significant_digits(text) == digits
