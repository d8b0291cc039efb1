"""Chapter 8: encoder, decoder, encoder-decoder."""

import solutions.architectures as solutions
from autograder.definition import Chapter, Exercise
from autograder.inputs import normal, some, whole
from solutions.attention import scaled_dot_product_attention
from solutions.feed_forward import FeedForward
from solutions.masks import causal_mask
from solutions.multihead import MultiHeadAttention, merge_heads, split_heads

CHAPTER = Chapter(8, "Encoder, decoder, encoder-decoder", "08_architectures")


EncoderBlock = Exercise(
    solutions.EncoderBlock,
    make={"d_model": "C", "num_heads": "h", "ff_dim": 30},
    uses=[MultiHeadAttention, FeedForward],
    forbids=["transformer"],
    inputs={
        "no mask": {"x": normal("B T C")},
        "a mask": {"x": normal("B T C"), "mask": some("T T")},
    },
    hints=["1", "2", "3"],
)
mask_tokens = Exercise(
    solutions.mask_tokens,
    probe="corruption",
    without=["device"],
    inputs={
        "a text": {
            "tokens": whole("B T", 0, 20),
            "mask_id": 20,
            "vocab_size": 21,
            "probability": 0.3,
            "seed": 1,
        }
    },
    hints=["1", "2", "3"],
)
CrossAttention = Exercise(
    solutions.CrossAttention,
    make={"d_model": "C", "num_heads": "h"},
    uses=[scaled_dot_product_attention, split_heads, merge_heads],
    forbids=["attention"],
    inputs={"no mask": {"x": normal("B n C"), "memory": normal("B m C")}},
    refuses={"d_model = 10 with 4 heads": {"d_model": 10, "num_heads": 4}},
    hints=["1", "2", "3"],
)
DecoderBlock = Exercise(
    solutions.DecoderBlock,
    make={"d_model": "C", "num_heads": "h", "ff_dim": 30},
    uses=[MultiHeadAttention, solutions.CrossAttention, FeedForward, causal_mask],
    forbids=["transformer"],
    inputs={"no mask": {"x": normal("B n C"), "memory": normal("B m C")}},
    hints=["1", "2", "3"],
)
shift_right = Exercise(
    solutions.shift_right,
    inputs={"sequences": {"tokens": whole("B T", 0, 20), "start_id": 20}},
    hints=["1", "2", "3"],
)
