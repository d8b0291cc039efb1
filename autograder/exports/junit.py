"""Results as JUnit XML, for CI: a suite a submission, a case an exercise."""

from collections.abc import Sequence
from xml.etree import ElementTree as xml

from autograder.exports.words import found, title
from autograder.render.words import clean
from autograder.results import Entry

#: status: the element that says so; a passed exercise has none
SAYS = {
    "failed": "failure",
    "forbidden": "failure",
    "error": "error",
    "timeout": "error",
    "out_of_memory": "error",
    "crashed": "error",
    "not_attempted": "skipped",
    "missing": "skipped",
}
COUNTED = {"failure": "failures", "error": "errors", "skipped": "skipped"}


def junit_xml(entries: Sequence[Entry]) -> str:
    """The whole class as one document."""
    root = xml.Element("testsuites", name="autograder")
    for entry in entries:
        root.append(_suite(entry))
    suites = list(root)
    for total in ("tests", *COUNTED.values()):
        root.set(total, str(sum(int(suite.get(total, "0")) for suite in suites)))
    xml.indent(root, " ")
    text = xml.tostring(root, encoding="unicode")
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{text}\n'


def _suite(entry: Entry) -> xml.Element:
    name = clean(entry["submission"])
    suite = xml.Element("testsuite", name=name)
    properties = xml.SubElement(suite, "properties")
    for key in ("points", "max_points"):
        xml.SubElement(properties, "property", name=key, value=f"{entry[key]:g}")
    if "error" in entry:
        case = xml.SubElement(suite, "testcase", name="submission", classname=name)
        _say(case, "error", "unreadable", entry["error"], "")
    for exercise in entry["exercises"]:
        where = f"{name}.chapter_{exercise['chapter']}"
        case = xml.SubElement(suite, "testcase", name=exercise["id"], classname=where)
        if element := SAYS.get(exercise["status"]):
            kind = exercise["status"]
            _say(case, element, kind, title(exercise), found(exercise))
    suite.set("tests", str(len(suite.findall("testcase"))))
    for element, total in COUNTED.items():
        suite.set(total, str(len(suite.findall(f"testcase/{element}"))))
    return suite


def _say(case: xml.Element, element: str, kind: str, line: str, text: str) -> None:
    said = xml.SubElement(case, element, message=clean(line))
    if element != "skipped":
        said.set("type", kind)
        said.text = clean(text)
