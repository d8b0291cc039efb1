"""How learning byte pairs goes wrong, by name."""

from autograder.definition import Mistake
from autograder.twins.bpe import (
    READ,
    REPLACED,
    apart,
    as_bytes_pairs,
    as_gpt2,
    counted_on,
    counted_once,
    first_only,
    from_the_last_on,
    from_the_left,
    in_twos,
    largest,
    largest_of_most,
    last_of_most,
    not_at_all,
    rarest,
    round_the_end,
    runs_dry,
    runs_out,
    smallest_of_most,
    without_the_first,
    without_the_last,
    words,
    words_with_spaces,
)

LEARNING = [
    Mistake(
        "counted-without-overlap",
        "In a run of equal ids every second pair is left out of the count; every pair "
        "of neighbours counts, overlaps included: `aaaa` has the pair aa three times.",
        count=apart,
    ),
    Mistake(
        "counted-in-twos",
        "The ids are cut into twos and those are counted, so every other pair of "
        "neighbours is missed: zip(ids, ids[1:]) gives them all, overlaps included.",
        count=in_twos,
    ),
    Mistake(
        "counted-round-the-end",
        "The text is counted as a ring: its last id and its first make a pair as well "
        "(ids[i - 1] at i = 0, a modulo, a roll). They are no neighbours: "
        "zip(ids, ids[1:]).",
        count=round_the_end,
    ),
    Mistake(
        "counted-round-the-start",
        "The text is counted as a ring: its last id and its first make a pair as well "
        "(ids[i - 1] at i = 0, or a roll). They are no neighbours: zip(ids, ids[1:]).",
        count=from_the_last_on,
    ),
    Mistake(
        "first-pair-missed",
        "The first pair of neighbours is never counted: the loop starts one too late. "
        "zip(ids, ids[1:]) gives them all.",
        count=without_the_first,
    ),
    Mistake(
        "last-pair-missed",
        "The last pair of neighbours is never counted: the loop ends one too early, at "
        "len(ids) - 2 instead of len(ids) - 1. zip(ids, ids[1:]) gives them all.",
        count=without_the_last,
    ),
    Mistake(
        "tie-to-the-last",
        "Among equally frequent pairs, the tie goes to the pair that comes last; it is "
        "the one that comes first in the current ids.",
        choose=last_of_most,
    ),
    Mistake(
        "tie-to-the-largest",
        "Among equally frequent pairs, the tie goes to the pair with the largest ids; "
        "it is the one that comes first in the current ids.",
        choose=largest_of_most,
    ),
    Mistake(
        "tie-to-the-smallest",
        "Among equally frequent pairs, the tie goes to the pair with the smallest ids; "
        "it is the one that comes first in the current ids.",
        choose=smallest_of_most,
    ),
    Mistake(
        "largest-pair",
        "The pair with the largest ids is taken, as max(counts) does, and the counts "
        "have no say: max(counts, key=counts.get).",
        choose=largest,
    ),
    Mistake(
        "rarest-pair",
        "The rarest pair is merged; it is the most frequent.",
        choose=rarest,
    ),
    Mistake(
        "merges-what-occurs-once",
        "Pairs that occur only once are merged too; stop early, when no pair occurs "
        "twice: merging it saves nothing that would come up again.",
        enough=1,
    ),
    Mistake(
        "stops-at-two",
        "Pairs that occur exactly twice are not merged any more, it stops too early; "
        "two occurrences are enough.",
        enough=3,
    ),
    Mistake(
        "no-pairs-left-max",
        "Where no pair is left, max() of nothing raises: stop early, when there is no "
        "pair or none occurs twice.",
        wrong=runs_dry,
    ),
    Mistake(
        "no-pairs-left-most-common",
        "Where no pair is left, the list of most_common is empty and has no first "
        "entry: stop early, when there is no pair or none occurs twice.",
        wrong=runs_out,
    ),
    Mistake(
        "characters-for-bytes",
        "The text is read character by character (code points, ord); ids 0 to 255 are "
        "bytes: list(text.encode('utf-8')).",
        read=lambda text: [ord(one) for one in text],
    ),
    *READ,
    Mistake(
        "cut-into-words",
        "The text is cut into words first, so that no pair reaches across a space; "
        "here it is one sequence of bytes, without pre-tokenisation.",
        wrong=words,
    ),
    Mistake(
        "cut-before-spaces",
        "The text is cut before each space first, so that no pair reaches across "
        "words; here it is one sequence of bytes, without pre-tokenisation.",
        wrong=words_with_spaces,
    ),
    Mistake(
        "cut-as-in-gpt-2",
        "The text is cut into words and marks first, as GPT-2's pattern does, so that "
        "no pair reaches across; here it is one sequence of bytes, without "
        "pre-tokenisation.",
        wrong=as_gpt2,
    ),
    Mistake(
        "pair-not-replaced",
        "The ids stay as they are after a merge, so the same pair is found again; "
        "replace it by its new id before you count again.",
        replace=not_at_all,
    ),
    Mistake(
        "only-the-first-replaced",
        "Only the first occurrence of a pair is replaced; replace them all.",
        replace=first_only,
    ),
    *REPLACED,
    Mistake(
        "ids-from-257",
        "The first merge makes id 257; new ids start at 256.",
        id_of=lambda number: 257 + number,
    ),
    Mistake(
        "ids-from-255",
        "The first merge makes id 255, which is a byte; new ids start at 256.",
        id_of=lambda number: 255 + number,
    ),
    Mistake(
        "ids-from-0",
        "New ids start at 0, where the bytes are; they start at 256.",
        id_of=lambda number: number,
    ),
    Mistake(
        "ids-after-the-largest",
        "A new id is one more than the largest id in the text; new ids are 256, 257, "
        "…: 256 plus the number of merges so far.",
        replace=lambda ids, pair, new_id: from_the_left(ids, pair, max(ids) + 1),
    ),
    Mistake(
        "always-256",
        "Every merge makes the same id, 256; each needs its own: 256 + its number.",
        id_of=lambda number: 256,
    ),
    Mistake(
        "one-merge-too-few",
        "There is one merge too few: num_merges of them are asked for.",
        rounds=lambda num_merges, text: num_merges - 1,
    ),
    Mistake(
        "one-merge-too-many",
        "There is one merge too many: num_merges of them are asked for.",
        rounds=lambda num_merges, text: num_merges + 1,
    ),
    Mistake(
        "nothing-merged",
        "No pair is ever merged. num_merges is the number of merges, not the size of "
        "the vocabulary with its 256 bytes; and a pair counts each time it occurs.",
        rounds=lambda num_merges, text: num_merges - 256,
    ),
    Mistake(
        "number-ignored",
        "The number of merges, num_merges, is ignored: stop when there are that many.",
        rounds=lambda num_merges, text: 1000,
    ),
    Mistake(
        "counted-once",
        "The pairs are counted once, before the first merge; each merge changes the "
        "ids, so count again.",
        wrong=counted_once,
    ),
    Mistake(
        "counts-carried-on",
        "The counts of earlier rounds stay in the counter; count anew, from the ids as "
        "they are after the last merge.",
        wrong=counted_on,
    ),
    Mistake(
        "dictionary-by-pair",
        "A dictionary of the pairs and their new ids comes back; a list of the pairs "
        "is asked for, in the order of the merges.",
        gives=lambda merges, ids: {pair: 256 + i for i, pair in enumerate(merges)},
    ),
    Mistake(
        "pairs-with-ids",
        "Each pair comes with its new id; the list holds the pairs alone, whose place "
        "says the id.",
        gives=lambda merges, ids: [(pair, 256 + i) for i, pair in enumerate(merges)],
    ),
    Mistake(
        "ids-returned",
        "The encoded text comes back; the list of merges is asked for.",
        gives=lambda merges, ids: ids,
    ),
    Mistake(
        "ids-returned-too",
        "The encoded text comes back along with the merges; the merges alone are asked "
        "for.",
        gives=lambda merges, ids: (merges, ids),
    ),
    Mistake(
        "byte-strings",
        "The pairs hold byte strings; pairs of ids are asked for, whole numbers.",
        gives=as_bytes_pairs,
    ),
    Mistake(
        "merges-in-reverse",
        "The merges come back in reverse order, the last first.",
        gives=lambda merges, ids: merges[::-1],
    ),
    Mistake(
        "pairs-reversed",
        "The two ids of each pair are exchanged; the left one comes first.",
        gives=lambda merges, ids: [(right, left) for left, right in merges],
    ),
    Mistake(
        "triples",
        "Each pair comes with its new id, as a triple; the list holds the pairs alone, "
        "whose place says the id.",
        gives=lambda merges, ids: [(*pair, 256 + i) for i, pair in enumerate(merges)],
    ),
    Mistake(
        "new-ids-returned",
        "The new ids come back; the pairs that they stand for are asked for.",
        gives=lambda merges, ids: [256 + i for i in range(len(merges))],
    ),
]
