"""What a Markdown text says is kept in its place; everything else becomes blank."""

import pytest

from scisolve_batch.prose import blank_numbering, keep_prose, strip_escapes, strip_tags


@pytest.mark.parametrize(
    "silent",
    [
        "<!-- 45.6 -->",
        "<!-- never closed 45.6",
        "```python\nx = 45.6\n```",
        "~~~ r\nx <- 45.6\n~~~",
        "```{code-cell} ipython3\nx = 45.6",
        "<img src='a.png' width=600 height=\"45.5\"/>",
        "<style>td {width: 45.6px}</style>",
        "<script>var x = 45.6 < 3;</script>",
        "![plot](attachment:img-45.6.png)",
        "![plot](data:image/png;base64,iVBORw0KGgo45/66+77=)",
        '[page](https://a.org/x_(45.6)/y "Figure 45.6")',
        "[id]: https://a.org/45.6",
        "it&#8217;s",
    ],
)
def test_what_claims_nothing_is_blank(silent):
    kept = keep_prose(f"before 1.5\n{silent}")
    assert not any(map(str.isdigit, kept.removeprefix("before 1.5"))), kept


@pytest.mark.parametrize(
    "said",
    [
        "`45.6`",
        "$\\alpha = 45.6$",
        "```\nslope 45.6\n```",
        "| a | 45.6 |",
        "    x = 45.6",
        "<b>45.6</b> H<sub>2</sub>O",
        "if a <b and c> 45.6",
        "[45.6](page.html) and ![45.6 units](x.png)",
        "a &#8722;45.6",
        "&lt;45.6&gt;",
    ],
)
def test_what_is_said_is_kept(said):
    assert "45.6" in keep_prose(said)


@pytest.mark.parametrize("text", ["a\n```py\n1\n\n2\n```\nb 3", "<p\n class='a\nb'>x\n</p>", "", "\n\n<!--\n\n"])  # fmt: skip
def test_places_and_lines_stay(text):
    kept = keep_prose(text)
    assert len(kept) == len(text)
    assert [i for i, c in enumerate(kept) if c == "\n"] == [
        i for i, c in enumerate(text) if c == "\n"
    ]
    assert all(a in (b, " ") for a, b in zip(kept, text, strict=True))


def numbered(text, last=()):
    kept, last = blank_numbering(text, last)
    return [line.split()[1] for line in kept.splitlines() if line.startswith("#")], last


def test_the_numbers_of_headings_are_no_claims_as_long_as_they_go_on():
    words, last = numbered("# 1 A\n## 1.1 B\n### 1.1.1 C\n## 1.2 D\n# 2. E\n## 2.0 F\n")
    assert words == ["1", "B", "C", "D", "2.", "F"]
    assert last == (2, 0)


def test_a_heading_number_that_does_not_go_on_may_be_a_result():
    words, last = numbered("## 1.1 A\n## 45.6 percent more\n## 1.2 B\n")
    assert words == ["A", "45.6", "B"] and last == (1, 2)
    assert numbered("## 3.4 seconds", (1, 2))[0] == ["3.4"]
    assert numbered("## 1.3 Next", (1, 2))[0] == ["Next"]


def test_colours_and_tags_leave_the_numbers_whole():
    assert (
        strip_escapes("\x1b[1;32m12.5\x1b[0m \x1b]8;;http://x\x07link\x1b]8;;\x07") == "12.5 link"
    )
    assert strip_tags("<td class='1'>12.5</td><script>3.5</script>").split() == ["12.5"]


@pytest.mark.parametrize(
    "piece", ["<!--", "<a x=\"", "<a b='", "](", "](a(", "```p\n", "[a]:", "<script ", "&#", "<a b c ", "# 1.1.", "<svg>"]
)  # fmt: skip
def test_long_hostile_texts_are_read_once(piece):
    text = piece * 20_000
    assert len(keep_prose(text)) == len(text)
    strip_tags(text)
