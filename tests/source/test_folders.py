"""From paths to submissions: which there are, what they are called, which fail."""

import os
from pathlib import Path

import pytest

from autograder.source import UsageError, collect, folders
from autograder.source.folders import names_for


def laid(folder, *names):
    """Lay files that hold their own path; a name that ends in / is a folder."""
    for name in names:
        path = folder / name
        if name.endswith("/"):
            path.mkdir(parents=True)
        else:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(f"path = {name!r}")
    return folder


def table(submissions):
    """name -> what stands in its files, or its error."""
    return {
        one.name: one.error or [file.cells[0].split("'")[1] for file in one.files]
        for one in submissions
    }


def test_a_name_of_blanks_can_be_seen(tmp_path):
    laid(tmp_path, " .py", "  .py", "a b.py")
    assert [one.name for one in collect([tmp_path])] == ["__", "_", "a b"]


def test_file_is_one_submission(tmp_path):
    laid(tmp_path, "ada.py", "ben.py")
    assert table(collect([tmp_path / "ben.py"])) == {"ben": ["ben.py"]}


def test_paths_keep_their_order_and_count_once(tmp_path):
    laid(tmp_path, "a.py", "class/c.py", "class/b.py")
    paths = ["class", "a.py", "class/b.py", "class/../a.py", "class"]
    found = collect(str(tmp_path / path) for path in paths)
    assert [one.name for one in found] == ["b", "c", "a"]


def test_every_entry_of_a_folder_is_one_submission(tmp_path):
    laid(tmp_path, "ada.py", "ben/part2.py", "ben/part1.py", "ben/data.csv", "empty/")
    laid(tmp_path, ".hidden.py", ".git/x.py", "__pycache__/ada.pyc", "notes.pdf")
    assert table(collect([tmp_path])) == {
        "ada": ["ada.py"],
        "ben": ["ben/part1.py", "ben/part2.py"],
        "empty": folders.NO_FILES,
        "notes": "it is neither a notebook (.ipynb) nor a .py file",
    }


def test_folder_has_no_ending_to_drop(tmp_path):
    laid(tmp_path, "ada.v2/x.py", "ben.v2.py")
    assert [one.name for one in collect([tmp_path])] == ["ada.v2", "ben.v2"]


def test_folder_in_a_submission_belongs_to_it(tmp_path):
    laid(tmp_path, "ada/src/deep/x.py", "ada/src/__pycache__/y.py", "ada/.venv/z.py")
    assert table(collect([tmp_path])) == {"ada": ["ada/src/deep/x.py"]}


def test_submission_with_an_unreadable_file_keeps_the_others(tmp_path):
    laid(tmp_path, "ada/x.py", "ada/y.ipynb")
    (only,) = collect([tmp_path])
    assert [file.path.name for file in only.files] == ["x.py"]
    assert only.error is None
    assert only.skipped == (
        "y.ipynb: the file isn't a notebook (no JSON); if it is Python, name it .py",
    )


def test_submission_without_a_readable_file_has_its_error(tmp_path):
    laid(tmp_path, "ada/y.ipynb")
    (only,) = collect([tmp_path])
    assert only.error.startswith("y.ipynb: the file isn't a notebook")
    assert (only.files, only.name) == ((), "ada")


def test_links_in_a_folder_are_not_followed(tmp_path):
    laid(tmp_path, "secret.py", "other/x.py", "class/ben/x.py")
    inside = tmp_path / "class"
    (inside / "ada.py").symlink_to(tmp_path / "secret.py")
    (inside / "cyd").symlink_to(tmp_path / "other")
    (inside / "dan.py").symlink_to("nowhere")
    (inside / "ben/y.py").symlink_to(tmp_path / "secret.py")
    (inside / "ben/all").symlink_to("/")
    found = collect([inside])
    link = "it is a link; hand in the file itself"
    assert table(found) == {
        "ada": link,
        "ben": ["class/ben/x.py"],
        "cyd": link,
        "dan": link,
    }
    assert found[1].skipped == (f"all: {link}", f"y.py: {link}")


def test_link_on_the_command_line_is_followed(tmp_path):
    laid(tmp_path, "week2/ada.py")
    (tmp_path / "now").symlink_to("week2")
    (tmp_path / "it.py").symlink_to("week2/ada.py")
    assert table(collect([tmp_path / "now"])) == {"ada": ["week2/ada.py"]}
    assert len(collect([tmp_path / "it.py", tmp_path / "now"])) == 1


def test_pipes_in_a_folder_are_not_opened(tmp_path):
    laid(tmp_path, "ben/x.py")
    os.mkfifo(tmp_path / "ada.py")
    os.mkfifo(tmp_path / "ben/y.py")
    ada, ben = collect([tmp_path])
    assert ada.error == "it is a pipe; hand in the file itself"
    assert ben.skipped == ("y.py: it is a pipe; hand in the file itself",)


def test_too_many_files_in_a_submission(tmp_path, monkeypatch):
    monkeypatch.setattr(folders, "MAX_FILES", 3)
    laid(tmp_path, *(f"ada/{n}.py" for n in range(4)), *(f"ben/{n}.py" for n in "abc"))
    ada, ben = collect([tmp_path])
    assert ada.error == "the folder holds more than 3 files; hand in your own only"
    assert len(ben.files) == 3


@pytest.mark.parametrize(
    ("path", "words"),
    [
        ("nowhere.py", "there is no '{}'; name a file or a folder"),
        (
            "notes.txt",
            "'{}' is neither a notebook (.ipynb) nor a .py file nor a folder",
        ),
        ("pipe.py", "'{}' can't be graded: it is a pipe"),
        ("loop.py", "'{}' can't be opened"),
        ("dangling.py", "there is no '{}'"),
        ("a\0b.py", "no path of a file"),
        ("empty", "nothing to grade there; name notebooks, .py files or folders"),
    ],
)
def test_wrong_path_is_wrong_usage_in_one_line(tmp_path, path, words):
    laid(tmp_path, "notes.txt", "empty/")
    os.mkfifo(tmp_path / "pipe.py")
    (tmp_path / "loop.py").symlink_to("loop.py")
    (tmp_path / "dangling.py").symlink_to("nothing.py")
    with pytest.raises(UsageError) as caught:
        collect([tmp_path / path])
    assert words.format(tmp_path / path) in str(caught.value)
    assert str(caught.value).isprintable()


def test_nothing_named_is_wrong_usage():
    with pytest.raises(UsageError, match="nothing to grade"):
        collect([])


NAMES = {
    "different": (["x/ada.py", "x/ben.ipynb"], ["ada", "ben"]),
    "two endings": (["x/ada.py", "x/ada.ipynb"], ["ada.py", "ada.ipynb"]),
    "two folders": (["x/ada.py", "y/ada.py"], ["x/ada.py", "y/ada.py"]),
    "only as far as needed": (
        ["x/ada.py", "y/ada.py", "y/ada.ipynb", "y/ben.py"],
        ["x/ada.py", "y/ada.py", "ada.ipynb", "ben"],
    ),
    "folders of one name": (
        ["a/week/ada.py", "b/week/ada.py", "b/tue/ada.py"],
        ["a/week/ada.py", "b/week/ada.py", "tue/ada.py"],
    ),
    "a folder and a file": (
        ["x/ada", "x/ada.py", "y/ada"],
        ["x/ada", "ada.py", "y/ada"],
    ),
    "an ending as the name": (["x/ada.py", "x/ada.py.py"], ["ada", "ada.py"]),
    "a name that grows into another": (
        ["x/ada.py", "x/ada.ipynb", "x/ada.py.py"],
        ["x/ada.py", "ada.ipynb", "ada.py.py"],
    ),
    "capitals": (["x/Ada.py", "x/ada.py"], ["Ada", "ada"]),
    "one path inside the other": (
        ["x/ada.py", "top/x/ada.py"],
        ["/top/x/ada.py", "top/top/x/ada.py"],
    ),
    "no ending": (["x/ada", "x/ben"], ["ada", "ben"]),
}


@pytest.mark.parametrize(("paths", "names"), NAMES.values(), ids=NAMES)
def test_name_is_as_short_as_it_can_be(paths, names):
    assert names_for([Path("/top") / path for path in paths]) == names


def test_names_hold_nothing_but_characters_to_print(tmp_path):
    laid(tmp_path, "a\nb.py", "a\x1b[31mb.py", "c\u202ed.py")
    (tmp_path / os.fsdecode(b"e\xff.py")).write_text("path = 'e'")
    assert sorted(one.name for one in collect([tmp_path])) == [
        *("a_[31mb", "a_b", "c_d", "e_"),
    ]


def test_names_that_cleaning_makes_equal_are_told_apart():
    assert names_for([Path("/a\n.py"), Path("/a\t.py")]) == ["a_", "a_ (2)"]


def test_too_much_code_in_a_submission(tmp_path, monkeypatch):
    monkeypatch.setattr(folders, "MAX_TOTAL_CODE", 20)
    (tmp_path / "ada").mkdir()
    for name in "one", "two", "three":
        (tmp_path / "ada" / f"{name}.py").write_text("x = 12345")
    (submission,) = collect([tmp_path])
    assert submission.error is not None
    assert "the folder's code is longer than 20 characters" in submission.error
