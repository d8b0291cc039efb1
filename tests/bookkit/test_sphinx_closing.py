"""The list of everything that the book builds, on its closing page."""

from autograder.registry import CHAPTERS, EXERCISES, of_chapter
from bookkit.book_map import Chapter
from bookkit.sphinx_closing import counted, everything


def test_every_exercise_stands_under_its_chapter_with_a_link():
    chapters = {n: Chapter(one.title, f"{n}.html") for n, one in CHAPTERS.items()}
    page = everything(chapters, {n: of_chapter(n) for n in chapters})
    for number in chapters:
        for one in of_chapter(number):
            anchor = f"{one.id.lower().replace('_', '-')}-hint-1"
            assert f'<a href="{number}.html#{anchor}"><code>{one.id}</code></a>' in page
    assert page.count("★") == sum(one.optional for one in EXERCISES.values())


def test_the_count_is_of_what_there_is():
    two = [EXERCISES["MiniGPT"], EXERCISES["linear_attention"]]
    said = "2 exercises: 1 modules and 1 functions, 1 of them challenges (★)."
    assert counted(two) == said
