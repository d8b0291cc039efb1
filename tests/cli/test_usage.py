"""Wrong usage ends with exit code 2 and one line that says what to do."""

import pytest

from autograder.commands import asking, classes
from autograder.registry import EXERCISES

IDS = "'autograder list' shows them all"


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("chek x.py", "no command 'chek'; did you mean 'check'?"),
        ("frobnicate", "no command 'frobnicate'; see 'autograder --help'"),
        ("--verbose", "'autograder' has no option --verbose; see 'autograder --help'"),
        ("check", "'autograder check' needs PATH; see 'autograder check --help'"),
        (
            "check --exercse x a.py",
            "'autograder check' has no option --exercse; did you mean '--exercise'?",
        ),
        ("hint", "'autograder hint' needs ID; see 'autograder hint --help'"),
        (
            "hint atention_scores",
            "no exercise 'atention_scores'; did you mean 'attention_scores'?",
        ),
        (
            "solution Attention_Scores",
            "no exercise 'Attention_Scores'; did you mean 'attention_scores'?",
        ),
        ("hint zzz", f"no exercise 'zzz'; {IDS}"),
        ("hint attention_scores 9", "attention_scores has 3 hints; ask for 1 to 3"),
        (
            "hint attention_scores two",
            "N must be a whole number from 1 on, not 'two'",
        ),
        ("hint attention_scores 0", "N must be a whole number from 1 on, not '0'"),
        (
            "hint attention_scores 1 2",
            "got unexpected extra argument (2); see 'autograder hint --help'",
        ),
        (
            "progress",
            "no workbook here; go to yours, or make one with 'autograder start'",
        ),
        (
            "reset attention_scores",
            "no workbook here; go to yours, or make one with 'autograder start'",
        ),
        (
            "check nowhere/a.py",
            "no file 'nowhere/a.py'; there is no folder 'nowhere'",
        ),
        (
            "check anser.py",
            "no file 'anser.py'; did you mean 'answer.py'?",
        ),
        (
            "watch missing",
            "no file 'missing'; name a notebook (.ipynb) or a .py file",
        ),
        (
            "check notes.txt",
            "notes.txt is neither a notebook (.ipynb) nor a .py file; "
            "name one of these",
        ),
        (
            "check folder",
            "folder is a folder; name one notebook or .py file in it",
        ),
        (
            "check empty.ipynb",
            "can't read empty.ipynb: "
            "the file is empty; save your work and hand it in again",
        ),
        (
            "grade notes.txt --out out",
            "notes.txt is neither a notebook (.ipynb) nor a .py file; "
            "name one of these or a folder of them",
        ),
        (
            "grade nobody --out out",
            "no file or folder 'nobody'; name a notebook (.ipynb) or a .py file",
        ),
        ("grade", "'autograder grade' needs PATH; see 'autograder grade --help'"),
        (
            "grade folder",
            "'autograder grade' needs --out DIR; see 'autograder grade --help'",
        ),
        (
            "grade folder --out",
            "option '--out' requires an argument; see 'autograder --help'",
        ),
        ("grade folder --out notes.txt", "notes.txt is a file; name a folder"),
        (
            "grade folder --out notes.txt/out",
            "can't write to notes.txt/out (Not a directory); name another folder",
        ),
        (
            "grade folder --out folder/out",
            "--out folder/out writes to folder/out, among what is graded in folder; "
            "choose another",
        ),
        (
            "grade folder --out out --jobs 0",
            "--jobs N must be a whole number from 1 on, not '0'",
        ),
        (
            "grade folder --out out --key secret",
            "can't read --key secret (No such file or directory); "
            "name a file with your secret",
        ),
        (
            "grade folder --out out --key empty.ipynb",
            "--key empty.ipynb is empty; put some random text into it",
        ),
        ("start notes.txt", "notes.txt is a file; name a folder"),
        (
            "start notes.txt/book",
            "can't write to notes.txt/book (Not a directory); name another folder",
        ),
    ],
)
def test_wrong_usage_is_one_line_that_says_what_to_do(run, here, line, said):
    (here / "answer.py").write_text("x = 1\n")
    (here / "notes.txt").write_text("not code")
    (here / "empty.ipynb").write_text("")
    (here / "folder").mkdir()
    result = run(line, code=2)
    assert result.stderr == f"autograder: {said}\n"
    assert result.stdout == ""


def test_a_line_break_in_what_was_typed_stays_in_one_line(run, here):
    (here / "a\n\x1b[2Jb.txt").write_text("")
    said = run(["check", "a\n\x1b[2Jb.txt"], code=2).stderr
    assert said.startswith("autograder: a [2Jb.txt is neither a notebook")
    assert said.count("\n") == 1


def test_without_a_command_the_help_is_shown(run):
    assert "start           Lay the chapters" in run("").stdout


def test_every_command_is_named_whole_in_the_help(run):
    text = run("--help").stdout
    assert "..." not in text.partition("Commands:")[2]


def test_a_fault_of_our_own_is_one_line_and_names_its_place(run, monkeypatch):
    def broken(text):
        raise KeyError("lost")

    monkeypatch.setattr(asking, "paragraph", broken)
    said = run("hint attention_scores", code=1).stderr
    assert "please report it: KeyError in test_usage.py, line" in said
    assert said.count("\n") == 1


def test_ctrl_c_ends_a_command_quietly(run, monkeypatch):
    def interrupted(text):
        raise KeyboardInterrupt

    monkeypatch.setattr(asking, "paragraph", interrupted)
    result = run("hint attention_scores", code=130)
    assert result.output.strip() == ""


def test_a_full_disk_is_one_line(run, here, monkeypatch):
    def full(*args):
        raise OSError(28, "No space left on device", "out/results.json")

    (here / "answer.py").write_text("x = 1\n")
    monkeypatch.setattr(classes, "_graded", full)
    said = run("grade answer.py --out out", code=1).stderr
    assert said == "autograder: out/results.json: No space left on device\n"


def test_every_exercise_has_as_many_hints_as_the_table_says():
    assert len(EXERCISES["attention_scores"].hints) == 3
