"""What of a submission an exercise needs, and what is left out."""

import math
from concurrent.futures import ThreadPoolExecutor

import pytest

from autograder.source import BrokenCell, defined_names, slice_for


def run(*cells, name="f", **options):
    """Execute the slice for `name`; its namespace."""
    cut = slice_for(cells, name, **options)
    assert cut is not None
    namespace = {"__name__": "submission"}
    exec(compile(cut.source, "<slice>", "exec", dont_inherit=True), namespace)
    return namespace


def result(*cells):
    return run(*cells)["f"]()


DEFINED = {
    "a function": ["def f(): return 7"],
    "the last of two": ["def f(): return 1", "def f(): return 7"],
    "twice in a cell": ["def f(): return 1\ndef f(): return 7"],
    "another name": ["def g(): return 7", "f = g"],
    "a lambda": ["f = lambda: 7"],
    "annotated": ["from typing import Callable", "f: Callable = lambda: 7"],
    "a tuple": ["g, f = None, lambda: 7"],
    "swapped": ["f, g = (lambda: 1), (lambda: 7)", "f, g = g, f"],
    "a starred target": ["g, *f = None, 1, 7", "f = lambda f=f: f[1]"],
    "a walrus": ["(f := lambda: 7)"],
    "a walrus in a comprehension": ["[f := g for g in [lambda: 1, lambda: 7]]"],
    "chained": ["f = g = lambda: 7"],
    "if": ["def f(): return 1", "if True:\n    def f(): return 7"],
    "else": ["if not 1:\n    f = None\nelse:\n    def f(): return 7"],
    "try": ["try:\n    import nowhere\nexcept ImportError:\n    def f(): return 7"],
    "if that isn't so": ["def f(): return 7", "if not 1:\n    f = None"],
    "try that fails": [
        "def f(): return 7",
        "try:\n    import nowhere\n    f = None\nexcept ImportError:\n    pass",
    ],
    "finally": ["try:\n    pass\nfinally:\n    f = lambda: 7"],
    "with": [
        "from contextlib import nullcontext",
        "with nullcontext(7) as seven:\n    def f(): return seven",
    ],
    "with … as f": [
        "from contextlib import nullcontext",
        "with nullcontext(lambda: 7) as f:\n    pass",
    ],
    "for": ["for f in [lambda: 1, lambda: 7]:\n    pass"],
    "while": ["n = 0\nwhile n < 7:\n    n += 1\n    def f(): return n"],
    "match": ["match [lambda: 7]:\n    case [f]:\n        pass"],
    "import as": ["from math import sqrt as g", "f = lambda: int(g(49))"],
    "a class that is called": ["class f(int):\n    def __new__(cls): return 7"],
    "one line with others": ["a = 5; f = lambda: a + 2; a = 5"],
    "a trailing backslash": ["f = lambda: 7 \\\n\ng = 1"],
    "text of several lines": ['f = lambda: len("""a\n#b\n%c""")'],
    "characters of several bytes": ["ä = 'ü'; f = lambda: 6 + len(ä); ö = 1"],
    "by global": ["def make():\n    global f\n    f = lambda: 7", "make()"],
    "by global, with a result": [
        "def make():\n    global f\n    f = lambda: 7\n    return 0",
        "zero = make()",
    ],
    "Windows line ends": ["def f():\r\n    return 7\r\n"],
    "line ends of old": ["g = 1\rdef f():\r    return 7\r"],
    "an indented cell": ["    def f():\n        return 7"],
    "the other side of a main block": [
        "if __name__ == '__main__':\n    pass\nelse:\n    def f(): return 7"
    ],
    "generic": ["def f() -> 'unknown': return 7"],
}


@pytest.mark.parametrize("cells", DEFINED.values(), ids=DEFINED)
def test_definition_is_found_however_it_is_written(cells):
    assert result(*cells) == 7
    assert "f" in defined_names(cells)


NEEDED = {
    "an import": ["import math", "def f(): return math.floor(7.5)"],
    "an import below": ["def f(): return floor(7.5)", "from math import floor"],
    "a dotted import": [
        "import os.path",
        "import os",
        "f = lambda: len(os.path.sep) + 6",
    ],
    "a star import": ["from math import *", "def f(): return floor(7.5)"],
    "a star import that replaces a built-in": [
        "from math import *",
        "def f(): return 7 if pow(2, 2) == 4.0 and isinstance(pow(2, 2), float) else 0",
    ],
    "a helper": ["def g(): return 7", "def f(): return g()"],
    "a helper below": ["def f(): return g()", "def g(): return 7"],
    "a helper's helper": ["def f(): return g()", "h = lambda: 7\ndef g(): return h()"],
    "mutual recursion": [
        "def f(n=7): return n if n == 7 else g(n)",
        "def g(n): return f(n + 1)",
    ],
    "a constant": ["seven = 7", "def f(): return seven"],
    "a constant from others": ["a, b = 3, 4", "seven = a + b", "f = lambda: seven"],
    "a default": ["seven = 7", "def f(n=seven): return n"],
    "a keyword default": ["seven = 7", "def f(*, n=seven): return n"],
    "a default that changes later": ["n = 7", "def f(n=n): return n", "n = 1"],
    "a default bound only below": ["def f(n=n): return n", "n = 7"],
    "a decorator": ["def same(g): return g", "@same\ndef f(): return 7"],
    "a decorator below": ["@same\ndef f(): return 7", "def same(g): return g"],
    "a decorator with arguments": [
        "import functools",
        "@functools.lru_cache(maxsize=None)\ndef f(): return 7",
    ],
    "an annotation": ["Number = int", "def f(n: Number = 7): return n"],
    "an annotated result": ["Number = int", "def f(n=7) -> Number: return n"],
    "a base": [
        "class Base:\n    def __call__(self): return 7",
        "class g(Base): pass\nf = g()",
    ],
    "a base below": [
        "class g(Base): pass",
        "class Base:\n    x = 7",
        "f = lambda: g.x",
    ],
    "a base's helper below": [
        "class g(Base): pass",
        "class Base:\n    x = make()",
        "def make(): return 7",
        "f = lambda: g.x",
    ],
    "a metaclass": [
        "class Meta(type):\n    x = 7",
        "class g(metaclass=Meta): pass",
        "f = lambda: g.x",
    ],
    "a class attribute from a constant of its name": [
        "seven = 7",
        "class g:\n    seven = seven\nf = lambda: g.seven",
    ],
    "an f-string": ["seven = 7", "def f(): return int(f'{seven}')"],
    "a comprehension": ["seven = [7]", "def f(): return [n for n in seven][0]"],
    "a nested function": ["n = 7", "def f():\n    def g(): return n\n    return g()"],
    "a condition": ["fast = True", "if fast:\n    def f(): return 7"],
    "a name from a tuple": [
        "def pair(): return 6, 7",
        "_, n = pair()",
        "f = lambda: n",
    ],
    "an except clause": [
        "class Odd(ValueError): pass",
        "def f():\n    try: raise Odd\n    except Odd: return 7",
    ],
    "an except clause that is tried": [
        "class Odd(ValueError): pass",
        "try:\n    raise ValueError\nexcept (Odd, ValueError):\n    f = lambda: 7",
    ],
    "__future__": [
        "from __future__ import annotations",
        "def f(x: Nothing = 7) -> Nothing: return x",
    ],
    "what replaced a built-in": ["def sum(x): return 7", "f = lambda: sum([1])"],
    "a global that it only counts up": [
        "n = 0",
        "def f():\n    global n\n    n += 1\n    return 7",
    ],
    "what a lambda that is called at once reads": [
        "seven = (lambda: g())()",
        "def g(): return 7",
        "f = lambda: seven",
    ],
    "a call before its function's helper": [
        "seven = make()",
        "def make(): return helper()",
        "def helper(): return 7",
        "f = lambda: seven",
    ],
}


@pytest.mark.parametrize("cells", NEEDED.values(), ids=NEEDED)
def test_what_a_definition_reads_comes_along(cells):
    assert result(*cells) == 7


UPDATES = {
    "a loop that fills": [
        "t = {}",
        "for i in range(8):\n    t[i] = i",
        "f = lambda: t[7]",
    ],
    "a loop in the same cell": [
        "t = []\nfor i in range(8): t.append(i)\nf = lambda: t[7]"
    ],
    "a while loop": ["t = []\nwhile len(t) < 7: t += [0]", "f = lambda: len(t)"],
    "update": ["t = dict(a=1)", "t.update(a=7)", "f = lambda: t['a']"],
    "an update below": ["t = {}", "f = lambda: t['a']", "t.update(a=7)"],
    "a result that also changes": [
        "t = [7, 0]",
        "last = t.pop()",
        "f = lambda: t.pop()",
    ],
    "through a result": ["t = {0: []}", "t.get(0).append(7)", "f = lambda: t[0][0]"],
    "setdefault and append": [
        "t = {}",
        "t.setdefault(0, []).append(7)",
        "f = lambda: t[0][0]",
    ],
    "+=": ["n = 5", "n += 1", "n += 1", "f = lambda: n"],
    "a reassignment from itself": ["n = 3", "n = n * 2 + 1", "f = lambda: n"],
    "a slice assignment": ["t = [1, 2]", "t[:] = [7]", "f = lambda: t[0]"],
    "del of an item": ["t = [1, 7]", "del t[0]", "f = lambda: t[0]"],
    "a method given later": [
        "class g: pass",
        "def seven(self): return 7",
        "g.run = seven",
        "f = lambda: g().run()",
    ],
    "setattr": ["class g: pass", "setattr(g, 'x', 7)", "f = lambda: g.x"],
    "a function's attribute": ["def f(): return f.x", "f.x = 7"],
    "a class opened again": [
        "class g:\n    x = 7",
        "class g(g):\n    def run(self): return self.x",
        "f = lambda: g().run()",
    ],
    "wrapped afterwards": [
        "def f(): return 6",
        "def more(g): return lambda: g() + 1",
        "f = more(f)",
    ],
    "a register": [
        "from functools import singledispatch",
        "@singledispatch\ndef g(x): return 1",
        "@g.register\ndef _(x: int): return 7",
        "f = lambda: g(3)",
    ],
    "a procedure that fills its argument": [
        "t = []",
        "def fill(rows, n):\n    for i in range(n): rows.append(i)",
        "fill(t, n=8)",
        "f = lambda: t[7]",
    ],
    "a procedure with keywords": [
        "t = []",
        "def fill(n, rows):\n    for i in range(n): rows.append(i)",
        "fill(rows=t, n=8)",
        "f = lambda: t[7]",
    ],
    "a procedure that fills a global": [
        "t = {}",
        "def fill():\n    t['x'] = 7",
        "fill()",
        "f = lambda: t['x']",
    ],
    "a procedure that assigns a global": [
        "n = 1",
        "def fill():\n    global n\n    n = 7",
        "fill()",
        "f = lambda: n",
    ],
    "in place": ["import heapq", "t = [9, 7]", "heapq.heapify(t)", "f = lambda: t[0]"],
    "filled above its definition": ["t.append(7)", "t = []", "f = lambda: t[0]"],
    "filled twice above its definition": [
        "t.append(6)",
        "t.append(7)",
        "t = []",
        "f = lambda: t[1]",
    ],
    "a loop variable": ["for n in range(8): pass", "f = lambda: n"],
    "a patched module": ["import math", "math.seven = 7", "f = lambda: math.seven"],
}


@pytest.mark.parametrize("cells", UPDATES.values(), ids=UPDATES)
def test_updates_of_what_is_needed_come_along(cells):
    assert result(*cells) == 7
    if hasattr(math, "seven"):
        del math.seven


DEAD = "raise RuntimeError('not needed')"  # what must not run
SCRATCH = {
    "a scratch cell": [DEAD],
    "a call of the exercise": ["x = f()\nprint(x)", "f()"],
    "an assertion": ["assert f() == 1"],
    "a print of what is needed": ["print(n)", f"print(n.bit_length(), {DEAD[6:]}))"],
    "a training loop": [f"for step in range(3):\n    loss = step\n    {DEAD}"],
    "a loop over the name of a parameter": [f"for x in range(3):\n    {DEAD}"],
    "a loop over the name of a local": [f"for y in range(3):\n    {DEAD}"],
    "a plot": ["import nowhere.pyplot as plt", "plt.plot(n)", "plt.show()"],
    "an import beside a needed one": ["import os, nowhere"],
    "a method of a needed module": [f"math.fsum({DEAD[6:]})"],
    "a module's method": ["import random, nowhere", "nowhere.seed(0)"],
    "an older version of the exercise": [f"def older(): pass\n{DEAD}"],
    "a main block": [f"if __name__ == '__main__':\n    {DEAD}"],
    "a main block, the other way round": [f"if '__main__' == __name__:\n    {DEAD}"],
    "a line magic": ["%matplotlib inline", f"%timeit f()\n{DEAD}"],
    "a shell line": ["!pip install it's", "files = !ls *.py"],
    "IPython's calls": ["/f 1", ",f a b", ";f a"],
    "help": ["f?", "?f", "math.floor??"],
    "automagic": ["pip install nothing", "cd ..\nls"],
    "a cell of another language": ["%%bash\nfor f in *; do echo $f; done"],
    "a remark above one of another language": ["# list\n%%bash\nf=1"],
    "a cell of HTML": ["%%html\n<b>f = 1</b>"],
    "a file that is written": ["%%writefile f.py\ndef f(): return 1"],
    "prose": ["This is not Python."],
    "broken code": ["def g(:\n    pass"],
    "deleting scratch names": ["m = 1\ndel m"],
}


@pytest.mark.parametrize("scratch", SCRATCH.values(), ids=SCRATCH)
@pytest.mark.parametrize("place", [0, 1, 2])
def test_scratch_is_left_out_wherever_it_stands(scratch, place):
    cells = [
        "import math\nn = 6",
        "def f(x=1):\n    y = x + n\n    return math.floor(y)",
    ]
    clean = slice_for(cells, "f").source
    cells[place:place] = scratch
    assert slice_for(cells, "f").source == clean


OWN = {
    "of a loop": "for i in range(8):\n    t.append(i)",
    "of a comprehension": "t += [i for i in range(8)]",
    "of a dictionary's comprehension": "t += {0: i for i in range(8)}.values()",
    "of a comprehension in another": "t += [j for i in [range(8)] for j in i]",
    "of a with block": "with open('/dev/null') as i:\n    t += [i, 7]",
    "of an except clause": "try:\n    1 / 0\nexcept Exception as i:\n    t += [i, 7]",
    "assigned before": "if True:\n    i = 7\n    t.append(i)",
    "of a case": "match 7:\n    case i:\n        t.append(i)",
    "of a case with a rest": "match {1: 2}:\n    case {**i}:\n        t += [i, 7]",
    "of a lambda": "t.append((lambda i: i)(7))",
    "of a class": "class C:\n    i = 7\n    j = i\nt.append(C.j)",
}


@pytest.mark.parametrize("update", OWN.values(), ids=OWN)
def test_name_that_a_statement_binds_itself_brings_no_other(update):
    cells = [
        "for i in range(3):\n    nowhere(i)",
        "t = []",
        update,
        *("f = lambda: t[-1]", "i = nowhere"),
    ]
    assert result(*cells) == 7


def test_call_for_a_result_is_left_out_although_it_remembers_it():
    cells = ["seen = {}", "def g(n):\n    seen[n] = n\n    return n"]
    cells += ["g(nowhere)", "print(g(nowhere))", "def f(): return g(7) * len(seen)"]
    assert result(*cells) == 7
    assert "nowhere" not in slice_for(cells, "f").source


def test_of_an_import_of_several_modules_the_needed_ones_come():
    cut = slice_for(["import nowhere, math as m, os.path", "f = lambda: m.pi"], "f")
    assert cut.source == "import math as m\nf = lambda: m.pi\n"
    assert cut.line_map == ((1, 1), (2, 1))


@pytest.mark.parametrize(
    "cells",
    [
        ["%%time\ndef f(): return 7"],
        ["# my answer\n%%time\ndef f(): return 7"],
        ["%%capture out\n%%time\nf = lambda: 7"],
        ["%%timeit -n 1\ndef f(): return 7"],
        ["%time n = 7", "def f(): return n"],
        ["%matplotlib inline\ndef f(): return 7"],
        ["if True:\n    %matplotlib inline\n    f = lambda: 7"],
        ["!echo 'it's (\ndef f(): return 7"],
        ["!echo a \\\n  b\ndef f(): return 7"],
        ["def f():\n    return 7\nf?"],
        ["x = '''\n%not a magic? \n''' # what?\n%pwd\nf = lambda: 7 * (14\n% 13)"],
        ["get_ipython().run_line_magic('pwd', '')\nf = lambda: 7"],
        ["get_ipython().run_cell_magic('time', '', 'n = 7\\ndef f():\\n return n\\n')"],
    ],
)
def test_magics_go_and_their_bodies_stay(cells):
    assert result(*cells) == 7


def test_cell_magic_of_another_language_is_left_out_of_an_export_too():
    cells = ["get_ipython().run_cell_magic('bash', '', 'f = 1')", "f = 7"]
    assert run(*cells)["f"] == 7
    assert slice_for(cells[:1], "f") is None


@pytest.mark.parametrize(
    "cells",
    [
        [],
        [""],
        ["g = 1"],
        ["def g():\n    f = 1"],
        ["class g:\n    def f(self): pass"],
        ["if __name__ == '__main__':\n    def f(): pass"],
        ["print(f)"],
        ["[f for f in range(3)]"],
        ["lambda f: f"],
        ["%%writefile f.py\ndef f(): pass"],
        ["'''\ndef f(): pass\n'''"],
        ["# def f(): pass"],
    ],
)
def test_what_is_defined_nowhere_has_no_slice(cells):
    assert slice_for(cells, "f") is None
    assert "f" not in defined_names(cells)


def test_parts_of_a_package_that_are_imported_apart_come_together():
    cells = ["import xml.dom", "import xml.sax", "f = lambda: (xml.dom, xml.sax)"]
    assert slice_for(cells, "f").source == "\n".join([*cells, ""])


def test_names_are_listed_once_and_imports_are_no_definitions():
    cells = ["import math\nfrom os import path as f", "g = 1\nclass H: pass", "g = 2"]
    assert defined_names(cells) == ["g", "H"]
    assert slice_for(cells, "f") is not None  # yet it is what `f` means there


def test_slice_keeps_the_lines_and_says_where_they_stood():
    cells = [
        "import a_module",
        "# answer\nimport math\n\n@staticmethod\ndef f(x):  # mine",
    ]
    cells[1] += "\n    return math.floor(\n        x)  # down\nprint(f)"
    cut = slice_for(cells, "f")
    assert cut.source.split("\n") == [
        "import math",
        "",
        "",
        "@staticmethod",
        "def f(x):  # mine",
        "    return math.floor(",
        "        x)  # down",
        "",
    ]
    assert cut.line_map == ((2, 2), (2, 4), (2, 4), (2, 4), (2, 5), (2, 6), (2, 7))
    assert (cut.name, cut.imports, cut.defines) == ("f", ("math",), ("f", "math"))


def test_order_is_that_of_the_file():
    cells = ["a = 1", "def g(): return b", "b = 2", "def f(): return g() + a", "c = 3"]
    assert slice_for(cells, "f").defines == ("a", "b", "f", "g")
    assert slice_for(cells, "f").line_map[0] == (1, 1)
    assert [cell for cell, _ in dict.fromkeys(slice_for(cells, "f").line_map)] == [
        *(1, 2, 3, 4)
    ]


def test_state_between_two_definitions_reaches_what_was_made_then():
    cells = [
        "n = 3",
        "def g(): return n",
        "a = g()",
        "n = 4",
        "f = lambda: a * 10 + g()",
    ]
    assert result(*cells) == 34


def test_deleted_name_gives_the_builtin_back():
    assert run("sum = 0", "del sum", "f = sum([3, 4])")["f"] == 7


def test_names_from_elsewhere_are_left_out():
    cut = slice_for(
        ["def g(): return 1", "def f(): return g()"], "f", without=["g", "f"]
    )
    assert cut.defines == ("f",)


BROKEN = {
    "a missing bracket": (["x = 1", "def f(:\n    pass"], 2, 1, "def f(:"),
    "below a magic": (["%time x = 1\n\ndef f(x)\n    pass"], 1, 3, "def f(x)"),
    "below a command of two lines": (["!echo a \\\n  b\ndef f(:"], 1, 3, "def f(:"),
    "a control character": (["f = 'a\x1bb' +"], 1, 1, "f = 'a b' +"),
    "in a class": (["class f:\n    def g(self)\n        pass"], 1, 2, "def g(self)"),
    "an assignment": (["f = 1 +"], 1, 1, "f = 1 +"),
    "a helper": (["def f(): return g()", "def g() return 1"], 2, 1, "def g() return 1"),
    "more than the stub": (
        ["def f():\n    raise NotImplementedError", "def f() return 1"],
        *(2, 1, "def f() return 1"),
    ),
    "return outside": (
        ["def f(): pass", "if True:\n    f = 1\n    return"],
        2,
        3,
        "return",
    ),
    "a null byte": (["f = 1\n\0"], 1, 1, "f = 1"),
}


@pytest.mark.parametrize(("cells", "cell", "line", "text"), BROKEN.values(), ids=BROKEN)
def test_broken_cell_says_where_and_what(cells, cell, line, text):
    with pytest.raises(BrokenCell) as caught:
        slice_for(cells, "f")
    problem = caught.value
    assert (problem.cell, problem.line, problem.text) == (cell, line, text)
    assert problem.message
    assert str(problem).startswith(f"code cell {cell}, line {line}: {problem.message}")
    assert str(problem).isprintable()


def test_broken_cell_still_counts_as_defining_what_it_seems_to():
    assert defined_names(["def f(:\n    def g(): pass", "h = 1"]) == ["h", "f"]


def test_other_cells_are_read_although_one_is_broken():
    assert result("def g(:", "def f(): return 7", "def f(:") == 7


DEEP = {
    "brackets": "f = " + "(" * 5000 + ")" * 5000,
    "a sum": "f = " + "+".join(["1"] * 50_000),
    "a chain": "f = a" + ".b" * 50_000,
    "not": "f = " + "not " * 50_000 + "1",
    "lambdas": "f = " + "lambda: " * 900 + "1",
    "elif": "if x: pass\n" + "elif x: pass\n" * 900 + "else: f = 1",
    "a number": "f = " + "9" * 5000,
    "half a character": "f = '\ud800'",
}


@pytest.mark.parametrize("code", DEEP.values(), ids=DEEP)
def test_code_that_python_cannot_read_is_a_broken_cell(code):
    with pytest.raises(BrokenCell) as caught:
        slice_for([code], "f")
    assert len(str(caught.value)) < 500
    assert result(code.replace("f", "g"), "f = lambda: 7") == 7


def test_feature_that_python_has_not_costs_no_other_answer():
    for name in ("braces", "*"):
        assert result(f"from __future__ import {name}", "f = lambda: 7") == 7


def test_number_of_too_many_digits_is_said_in_plain_words():
    with pytest.raises(BrokenCell) as caught:
        slice_for(["x = 1", "f = 2 + " + "9" * 5000], "f")
    message = "a number stands here that has more digits than Python reads"
    assert (caught.value.cell, caught.value.message) == (2, message)


@pytest.mark.filterwarnings("error")
def test_warnings_about_learners_code_are_kept_quiet():
    assert slice_for(["f = '\\d' is 1"], "f") is not None


def test_threads_may_read_side_by_side():
    cell = "def f(x):\n    return " + "(" * 40 + "x" + ")" * 40 + "\n"
    cells = [[f"{cell}# {i}\n"] * 20 for i in range(64)]
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda each: slice_for(each, "f"), cells))
    assert all(each is not None for each in found)


def test_statements_that_all_change_one_another_are_given_up():
    lines = ["g = []"]
    for _ in range(300):
        lines += ["def f():", "    global g", "    g.append(f())", "f()"]
    cell = "\n".join([*lines, "def answer(x):", "    return g"])
    with pytest.raises(BrokenCell, match="too many statements change what they need"):
        slice_for([cell], "answer")


def test_many_statements_in_a_row_are_not_too_many():
    chain = "\n".join(f"v{i} = v{i - 1} + 1" for i in range(1, 3000))
    cell = f"v0 = 0\n{chain}\ndef answer(x):\n    return v2999"
    found = slice_for([cell], "answer")
    assert found is not None
    assert len(found.source.splitlines()) > 3000
