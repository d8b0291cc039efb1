"""The bibliography: whole entries in order, and exactly those that the pages cite."""

import re
from pathlib import Path

import nbformat

ROOT = Path(__file__).resolve().parents[2]
ENTRIES = [
    f"@{entry.strip()}"
    for entry in re.split(r"^@", (ROOT / "references.bib").read_text(), flags=re.M)[1:]
]
KEYS = [re.match(r"@\w+\{([^,]+),", entry)[1] for entry in ENTRIES]


def cited():
    found = set()
    for path in sorted((ROOT / "chapters").glob("*.ipynb")):
        for cell in nbformat.read(path, 4).cells:
            for keys in re.findall(r"\{cite(?::\w+)?\}`([^`]+)`", cell.source):
                found |= {key.strip() for key in keys.split(",")}
    return found


def test_every_entry_is_whole_and_has_each_field_once():
    for entry in ENTRIES:
        fields = re.findall(r"^\s+(\w+)\s*=", entry, flags=re.M)
        assert len(fields) == len(set(fields)), entry
        assert entry.endswith("\n}"), entry
        assert entry.count("{") == entry.count("}"), entry


def test_entries_are_in_order_each_once():
    assert sorted(set(KEYS)) == KEYS


def test_every_citation_has_an_entry_and_every_entry_is_cited():
    assert cited() == set(KEYS)
