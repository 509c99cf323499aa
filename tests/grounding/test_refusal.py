"""The refusal names each failing number, the nearest printed one and what to do."""

from scisolve_batch.grounding import check_grounding, explain_refusal
from scisolve_batch.records import Cell, ReportedValue


def refuse(answer, *outputs, policy="flat", **more):
    cells = [Cell(index=i, stdout=out) for i, out in enumerate(outputs, 1)]
    return explain_refusal(check_grounding(answer, cells, policy=policy, **more))


def test_a_grounded_answer_has_no_refusal():
    assert refuse("x is 12.5", "12.5") == ""


def test_an_invented_number_is_named_with_the_nearest_one():
    text = refuse("x is 12.7", "a\nx 12.5")
    assert text.splitlines() == [
        "1 number is not traceable to the output of a successful cell or to the problem:",
        "- `12.7`: no successful cell printed it; the nearest is `12.5` (cell 1, line 2). "
        "Print it in a cell if it was computed, correct it, or remove it.",
    ]


def test_an_overprecise_number_is_told_to_be_rounded():
    assert "more digits than were printed; the nearest is `3.14` (cell 1, line 1). Print" in refuse(
        "3.14159", "3.14"
    )


def test_a_reported_value_is_named_by_its_place():
    values = [ReportedValue(name="pi", value="3.2")]
    assert "- `3.2` in `values[pi]`: " in refuse("fine", "3.14159", values=values)


def test_the_problem_is_named_as_the_source_of_the_nearest():
    report = check_grounding("12.7", [Cell(index=1)], "k = 12.5", policy="flat")
    assert "the nearest is `12.5` (the problem)" in explain_refusal(report)


def test_without_any_printed_number_no_nearest_is_named():
    assert "nearest" not in refuse("12.7", "nothing")


def test_nothing_computed_says_to_run_cells():
    assert refuse("12.7").startswith("no cell has succeeded")


def test_a_repeated_number_is_named_once():
    assert refuse("12.7, again 12.7", "").count("`12.7`") == 1


def test_the_length_is_bounded():
    text = refuse(" ".join(f"{i}.12345" + "6" * 500 for i in range(500)), "1." + "7" * 500)
    assert len(text) < 4500
    assert "and 488 more" in text


def test_each_reason_of_the_decimal_policy_says_what_to_do():
    cells = ("area 12.5\nlong 3.14976\ngap 7.25", "code")
    for answer, words in {
        "It is 3.14.": "cut off, not rounded; the nearest is `3.14976` (cell 1, line 2). Round it",
        "Between 12.5 and 7.25 lies 5.25.": "not printed itself (12.5 - 7.25). Print it.",
        "It is ⁴¹.": "cannot be read as a number. Write it in plain digits",
        "It is 12.501.": "more digits than were printed; the nearest is `12.5`",
    }.items():
        assert words in refuse(answer, *cells, policy="decimal")


def test_a_unit_that_was_never_printed_is_asked_for():
    report = check_grounding("The mass is 23.3 g.", [Cell(index=1, stdout="mass 23.3")], "in kg")
    assert "the problem uses another prefix; the nearest is `23.3`" in explain_refusal(report)
    assert "Print it with its unit." in explain_refusal(report)
