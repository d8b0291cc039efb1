"""What counts as not attempted."""

import pytest

from autograder.source import is_given, is_stub, slice_for

DOC = '"""What it does."""'
METHODS = (
    "class f(nn.Module):\n    " + DOC + "\n"
    "    def __init__(self, n):\n        super().__init__()\n        {init}\n"
    "    def forward(self, x):\n        {forward}\n"
)
RAISE = "raise NotImplementedError"

STUBS = {
    "raise": f"def f(x):\n    {RAISE}",
    "docstring and raise": f"def f(x):\n    {DOC}\n    {RAISE}",
    "raise with words": f"def f(x):\n    {RAISE}('write me')",
    "raise, called": f"def f(x):\n    {RAISE}()",
    "docstring only": f"def f(x):\n    {DOC}",
    "pass": "def f(x): pass",
    "dots": f"def f(x):\n    {DOC}\n    ...",
    "pass and raise": f"def f(x):\n    pass\n    {RAISE}",
    "a comment": f"def f(x):\n    # how?\n    {RAISE}",
    "decorated": f"from autograder import exercise\n@exercise\ndef f(x): {RAISE}",
    "async": f"async def f(x): {RAISE}",
    "inside if": f"if True:\n    def f(x): {RAISE}",
    "after an attempt": f"def f(x): return x\ndef f(x): {RAISE}",
    "empty class": "class f: pass",
    "class of dots": "class f: ...",
    "empty module": "class f(nn.Module): pass",
    "empty module by its name": "class f(Module): ...",
    "class with a docstring": f"class f:\n    {DOC}",
    "methods that raise": METHODS.format(init=RAISE, forward=RAISE),
    "methods that pass": METHODS.format(init="pass", forward="..."),
    "super().__init__() alone": METHODS.format(init="", forward=RAISE),
    "super of Python 2": "class f(B):\n  def __init__(self): super(f, self).__init__()",
}
ATTEMPTS = {
    "an answer": "def f(x): return x",
    "return None": "def f(x): return None",
    "print": "def f(x): print(x)",
    "code below the raise": f"def f(x):\n    {RAISE}\n    return x",
    "code above the raise": f"def f(x):\n    y = x\n    {RAISE}",
    "another exception": "def f(x): raise ValueError",
    "raise under a condition": f"def f(x):\n    if x:\n        {RAISE}",
    "written below the stub": f"def f(x): {RAISE}\ndef f(x): return x",
    "an assignment": "f = lambda x: x",
    "a name for another": "def g(x): pass\nf = g",
    "wrapped": "def f(x): pass\nf = wrap(f)",
    "one method": METHODS.format(init="self.n = n", forward=RAISE),
    "the other method": METHODS.format(init=RAISE, forward="return x"),
    "a class attribute": "class f:\n    n = 3",
    "a method given later": "class f: pass\ndef g(self): return 1\nf.forward = g",
    "a call": "def f(x): g()",
    "super with arguments": "class f(nn.Sequential):\n"
    "    def __init__(self, n): super().__init__(nn.Linear(n, n))",
    "all of it inherited": "class f(Other): pass",
    "an import": "from m import f",
    "nothing of the name": "g = 1",
}


@pytest.mark.parametrize("code", STUBS.values(), ids=STUBS)
def test_stub_is_not_attempted(code):
    assert is_stub([code, "f(3)\nprint(f)"], "f")
    assert is_stub(slice_for([code], "f"), "f")


@pytest.mark.parametrize("code", ATTEMPTS.values(), ids=ATTEMPTS)
def test_attempt_is_no_stub(code):
    assert not is_stub([code], "f")
    cut = slice_for([code], "f")
    assert cut is None or not is_stub(cut, "f")


def test_stub_in_a_cell_that_is_no_python_is_not_known_as_one():
    assert not is_stub([f"def f(x) {RAISE}"], "f")


GIVEN = """
class f(nn.Module):
    \"\"\"What it should do.\"\"\"

    def forward(self, x):
        y = x * 1  # a comment
        return y
"""

SAME = {
    "as given": GIVEN,
    "decorated": "@exercise" + GIVEN,
    "other words": GIVEN.replace("should", "ought to").replace("a comment", "why?"),
    "no docstring": GIVEN.replace('"""What it should do."""', ""),
    "another layout": GIVEN.replace("x * 1", "(x *\n            1)"),
    "given again after an attempt": "def f(x): return x\n" + GIVEN,
}
OTHER = {
    "one number": GIVEN.replace("1", "2"),
    "another type of number": GIVEN.replace("1", "1.0"),
    "another name": GIVEN.replace("y", "z"),
    "a line more": GIVEN.replace("return y", "print(y)\n        return y"),
    "a decorator inside": GIVEN.replace("    def", "    @staticmethod\n    def"),
    "something added later": GIVEN + "\nf.forward = lambda self, x: x",
    "wrapped later": GIVEN + "\nf = wrap(f)",
    "another definition": "def f(x): return x",
    "nothing of the name": "g = 1",
    "no Python": "class f(",
    "very deep": GIVEN.replace("x * 1", "-" * 60 + "x"),
    "a very large number": GIVEN.replace("1", "0x" + "f" * 5000),
}


@pytest.mark.parametrize("code", SAME.values(), ids=SAME)
def test_code_that_was_given_is_known_again(code):
    assert is_given([code, "f()"], "f", GIVEN)
    assert is_given(slice_for([code], "f"), "f", GIVEN)


@pytest.mark.parametrize("code", OTHER.values(), ids=OTHER)
def test_code_that_was_touched_is_not_as_given(code):
    assert not is_given([code], "f", GIVEN)
