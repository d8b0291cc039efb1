"""A submission's file has a name that every system takes, and none has another's."""

from autograder.filenames import safe_names


def test_names_are_safe_and_none_twice():
    names = ["ada", "ADA", "../etc/passwd", "a\nb", "", "..", "nul\0", "class"]
    assert safe_names(names, ".json", taken=["Class.json"]) == [
        *("ada.json", "ADA_2.json", "_etc_passwd.json", "a_b.json"),
        *("_.json", "__2.json", "nul_.json", "class_2.json"),
    ]


def test_a_long_name_is_cut_between_characters():
    (name,) = safe_names(["å" * 200], ".json")
    assert name == "å" * 60 + ".json"
