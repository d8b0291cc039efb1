"""Of the theme's icons, those stay that the book shows."""

from bookkit.sphinx_icons import named, with_icons

SCRIPT = (
    'start({moon:[384,512,[127769,9214],"f186","M223 32"],'
    '"arrow-up":[384,512,[8593],"f062","M214 41"],'
    '"magnifying-glass":[512,512,[128269,"search"],"f002","M416 208"],'
    'two:[1,1,[],"f0",["M1","M2"]]})'
)


def test_icons_that_no_page_names_go():
    kept = with_icons(SCRIPT, {"moon"})
    assert kept == 'start({moon:[384,512,[127769,9214],"f186","M223 32"],})'


def test_an_icon_stays_under_its_other_name():
    assert "M416 208" in with_icons(SCRIPT, {"search"})


def test_all_stay_if_all_are_named():
    names = {"moon", "arrow-up", "magnifying-glass", "two"}
    assert with_icons(SCRIPT, names) == SCRIPT


def test_names_are_read_from_classes():
    pages = ['<i class="fa-solid fa-moon fa-lg">', 'add("fa-arrow-up")']
    assert {"moon", "arrow-up"} <= named(pages)
