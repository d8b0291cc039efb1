"""The submissions in examples/ as they are read: each shows something else."""

from pathlib import Path

import pytest

from autograder.source import BrokenCell, collect, defined_names, is_stub, slice_for

FOLDER = Path(__file__).parents[2] / "examples" / "submissions"
CHAPTER_2 = ["project_qkv", "attention_scores", "scaled_dot_product_attention"]


@pytest.fixture(scope="module")
def handed_in():
    return {one.name: one for one in collect([FOLDER])}


def test_one_submission_for_each_entry(handed_in):
    assert {name: len(one.files) for name, one in handed_in.items()} == {
        **{"ada": 1, "ben": 1, "chen": 1, "dora": 1},
        **{"eli": 2, "finn": 0},
    }


@pytest.mark.parametrize("name", ["ada", "ben", "chen", "dora"])
def test_notebooks_know_their_chapter(handed_in, name):
    (file,) = handed_in[name].files
    assert file.chapter == 2
    assert set(CHAPTER_2) <= set(defined_names(file.cells))


def test_download_that_broke_off_is_told(handed_in):
    assert handed_in["finn"].error.startswith("the notebook breaks off at line ")


def test_half_finished_notebook_keeps_the_second_try_and_its_table(handed_in):
    (file,) = handed_in["chen"].files
    cut = slice_for(file.cells, "attention_scores")
    assert cut.imports == ("autograder", "einops")
    assert cut.defines == (
        *("attention_scores", "einsum", "exercise"),
        *("rearrange", "root", "size"),
    )
    assert cut.source.count("def attention_scores") == 1
    assert is_stub(file.cells, "scaled_dot_product_attention")
    assert not is_stub(file.cells, "project_qkv")


def test_broken_notebook_says_where(handed_in):
    (file,) = handed_in["dora"].files
    assert slice_for(file.cells, "attention_scores") is not None
    with pytest.raises(
        BrokenCell, match="code cell 5, line 12: '\\(' was never closed"
    ):
        slice_for(file.cells, "scaled_dot_product_attention")


def test_folder_mixes_a_notebook_and_a_python_file(handed_in):
    heads, warmup = handed_in["eli"].files
    assert (heads.chapter, warmup.chapter) == (None, 0)
    assert defined_names(heads.cells) == [
        *("split_heads", "merge_heads", "MultiHeadAttention"),
    ]
    cut = slice_for(heads.cells, "MultiHeadAttention")
    assert {"split_heads", "merge_heads"} < set(cut.defines)
    assert "__main__" not in cut.source
