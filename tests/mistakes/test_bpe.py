"""Chapter 10, tokens: slips in byte-pair encoding named, every style accepted."""

import pytest

from tests.mistakes.answers import check_source, named, slipped

TRAIN = """
def train_bpe(text, num_merges):
    ids = list(text.encode("utf-8"))
    merges = []
    for step in range(num_merges):
        counts = {}
        for pair in zip(ids, ids[1:]):
            counts[pair] = counts.get(pair, 0) + 1
        if not counts:
            break
        best = max(counts, key=counts.get)
        if counts[best] < 2:
            break
        new_id = 256 + step
        new_ids = []
        i = 0
        while i < len(ids):
            if i + 1 < len(ids) and (ids[i], ids[i + 1]) == best:
                new_ids.append(new_id)
                i += 2
            else:
                new_ids.append(ids[i])
                i += 1
        ids = new_ids
        merges.append(best)
    return merges
"""

BEST = "best = max(counts, key=counts.get)"
STOP = "        if counts[best] < 2:\n            break\n"


@pytest.mark.parametrize(
    ("right", "slip", "mistake"),
    [
        (
            "zip(ids, ids[1:])",
            "zip(ids, ids[1:] + ids[:1])",
            "counted-round-the-end",
        ),
        (
            "zip(ids, ids[1:])",
            "[(ids[i - 1], ids[i]) for i in range(len(ids))]",
            "counted-round-the-start",
        ),
        ("zip(ids, ids[1:])", "zip(ids[1:-1], ids[2:])", "first-pair-missed"),
        ("zip(ids, ids[1:])", "zip(ids[:-1], ids[1:-1])", "last-pair-missed"),
        (BEST, "best = max(counts.keys())", "largest-pair"),
        ("256 + step", "max(ids) + 1", "ids-after-the-largest"),
        (
            "if i + 1 < len(ids) and (ids[i], ids[i + 1]) == best:",
            "if (ids[i], ids[(i + 1) % len(ids)]) == best:",
            None,
        ),
        ('list(text.encode("utf-8"))', "[ord(c) for c in text]", None),
        ('text.encode("utf-8")', "text.strip().encode()", "stripped"),
        ('text.encode("utf-8")', "text.lower().encode()", "lower-case"),
        ('text.encode("utf-8")', "text.replace(' ', '').encode()", None),
        ("zip(ids, ids[1:])", "zip(ids[::2], ids[1::2])", "counted-in-twos"),
        ("zip(ids, ids[1:])", "set(zip(ids, ids[1:]))", None),
        ("zip(ids, ids[1:])", "zip(ids, ids[2:])", None),
        ("zip(ids, ids[1:])", "zip(ids[1:], ids[2:])", None),
        (BEST, "best = max(counts, key=lambda p: (counts[p], p))", None),
        (
            BEST,
            "best = sorted(counts, key=lambda p: (-counts[p], p))[0]",
            "tie-to-the-smallest",
        ),
        (BEST, "best = sorted(counts, key=counts.get)[-1]", "tie-to-the-last"),
        (BEST, "best = max(counts)", None),
        (BEST, "best = min(counts, key=counts.get)", "rarest-pair"),
        (STOP, "", "merges-what-occurs-once"),
        ("counts[best] < 2", "counts[best] <= 2", "stops-at-two"),
        ("counts[best] < 2", "counts[best] < 1", "merges-what-occurs-once"),
        (
            "        if not counts:\n            break\n",
            "",
            "no-pairs-left-max",  # right as long as there are pairs
        ),
        ("256 + step", "257 + step", "ids-from-257"),
        ("256 + step", "255 + step", "ids-from-255"),
        ("256 + step", "step", "ids-from-0"),
        ("256 + step", "256", "always-256"),
        ("256 + step", "len(set(ids))", None),
        ("i += 2", "i += 1", "second-half-kept"),
        ("while i < len(ids):", "while i < len(ids) - 1:", "last-id-lost"),
        ("        ids = new_ids\n", "", "pair-not-replaced"),
        ("range(num_merges)", "range(num_merges - 1)", "one-merge-too-few"),
        ("range(num_merges)", "range(num_merges + 1)", "one-merge-too-many"),
        ("range(num_merges)", "range(1, num_merges)", None),
        ("range(num_merges)", "range(num_merges - 256)", "nothing-merged"),
        ("range(num_merges)", "range(10000)", "number-ignored"),
        ("return merges", "return ids", "ids-returned"),
        ("return merges", "return merges, ids", "ids-returned-too"),
        ("return merges", "return None", "returns-nothing"),
        ("return merges", "return merges[::-1]", "merges-in-reverse"),
        ("return merges", "return set(merges)", "result-form"),
        (
            "return merges",
            "return {p: 256 + i for i, p in enumerate(merges)}",
            "dictionary-by-pair",
        ),
        ("merges.append(best)", "merges.append((best, new_id))", "pairs-with-ids"),
        ("merges.append(best)", "merges.append((*best, new_id))", "triples"),
        ("merges.append(best)", "merges.append(new_id)", "new-ids-returned"),
        ("merges.append(best)", "merges.append(best[::-1])", "pairs-reversed"),
        (
            "merges.append(best)",
            "merges.append(tuple(bytes([b]) for b in best if b < 256))",
            None,
        ),
    ],
)
def test_slip_in_learning_is_named(right, slip, mistake):
    verdict = slipped(TRAIN, right, slip)
    if mistake is not None:
        assert verdict.mistake == mistake


WRONG_TRAININGS = named(
    """
    # counted-without-overlap
    from collections import Counter

    def train_bpe(text, num_merges):
        ids, merges = list(text.encode()), []
        while len(merges) < num_merges:
            counts, i, seen = Counter(), 0, None
            for i in range(len(ids) - 1):
                pair = (ids[i], ids[i + 1])
                if pair == seen and pair[0] == pair[1]:
                    seen = None  # it overlaps the one before
                    counts[pair] += 0
                    continue
                counts[pair] += 1
                seen = pair
            if not counts:
                break
            pair = max(counts, key=counts.get)
            if counts[pair] < 2:
                break
            new, i = [], 0
            while i < len(ids):
                if ids[i:i + 2] == list(pair):
                    new.append(256 + len(merges))
                    i += 2
                else:
                    new.append(ids[i])
                    i += 1
            ids = new
            merges.append(pair)
        return merges

    # no-pairs-left-most-common
    from collections import Counter

    def train_bpe(text, num_merges):
        tokens = list(text.encode("utf-8"))
        merges = []
        for i in range(num_merges):
            pair = Counter(zip(tokens, tokens[1:])).most_common(1)[0][0]
            merges.append(pair)
            out, j = [], 0
            while j < len(tokens):
                if j < len(tokens) - 1 and (tokens[j], tokens[j + 1]) == pair:
                    out.append(256 + i)
                    j += 2
                else:
                    out.append(tokens[j])
                    j += 1
            tokens = out
        return merges

    # no-pairs-left-max
    def get_stats(ids):
        counts = {}
        for pair in zip(ids, ids[1:]):
            counts[pair] = counts.get(pair, 0) + 1
        return counts

    def merge(ids, pair, idx):
        newids = []
        i = 0
        while i < len(ids):
            if ids[i] == pair[0] and i < len(ids) - 1 and ids[i + 1] == pair[1]:
                newids.append(idx)
                i += 2
            else:
                newids.append(ids[i])
                i += 1
        return newids

    def train_bpe(text, num_merges):
        ids = list(text.encode("utf-8"))
        merges = []
        for i in range(num_merges):
            stats = get_stats(ids)
            pair = max(stats, key=stats.get)
            ids = merge(ids, pair, 256 + i)
            merges.append(pair)
        return merges

    # counted-once
    from collections import Counter
    from itertools import pairwise

    def train_bpe(text, num_merges):
        counts = Counter(pairwise(text.encode()))
        return [p for p, c in counts.most_common(num_merges) if c >= 2]

    # cut-into-words
    from collections import Counter

    def train_bpe(text, num_merges):
        words = [list(w.encode()) for w in text.split()]
        merges = []
        while len(merges) < num_merges:
            counts = Counter(p for w in words for p in zip(w, w[1:]))
            if not counts:
                break
            pair, n = counts.most_common(1)[0]
            if n < 2:
                break
            for k, w in enumerate(words):
                new, i = [], 0
                while i < len(w):
                    if tuple(w[i:i + 2]) == pair:
                        new.append(256 + len(merges))
                        i += 2
                    else:
                        new.append(w[i])
                        i += 1
                words[k] = new
            merges.append(pair)
        return merges

    # only-the-first-replaced
    from collections import Counter

    def train_bpe(text, num_merges):
        ids, merges = list(text.encode()), []
        for n in range(num_merges):
            counts = Counter(zip(ids, ids[1:]))
            if not counts or max(counts.values()) < 2:
                break
            pair = max(counts, key=counts.get)
            for i in range(len(ids) - 1):
                if (ids[i], ids[i + 1]) == pair:
                    ids[i:i + 2] = [256 + n]
                    break
            merges.append(pair)
        return merges

    # counts-carried-on
    from collections import Counter

    def train_bpe(text, num_merges):
        ids, merges, counts = list(text.encode()), [], Counter()
        while len(merges) < num_merges:
            counts.update(zip(ids, ids[1:]))
            if not counts:
                break
            pair = max(counts, key=counts.get)
            if counts[pair] < 2:
                break
            new, i = [], 0
            while i < len(ids):
                hit = tuple(ids[i:i + 2]) == pair
                new.append(256 + len(merges) if hit else ids[i])
                i += 1 + hit
            ids = new
            merges.append(pair)
        return merges
    """
)


@pytest.mark.parametrize("mistake", WRONG_TRAININGS)
def test_wrong_learning_is_named(mistake):
    verdict = check_source(WRONG_TRAININGS[mistake])
    assert not verdict.passed
    assert verdict.mistake == mistake


def test_learning_that_keeps_its_state_is_told():
    source = TRAIN.replace("text, num_merges):", "text, num_merges, merges=[]):")
    source = source.replace("    merges = []\n", "")
    verdict = check_source(source)
    assert not verdict.passed
    assert "when called again" in verdict.message


TRAININGS = named(
    """
    # Counter and most_common, which keeps the order of first occurrence
    from collections import Counter

    def train_bpe(text, num_merges):
        ids = [*text.encode()]
        merges = []
        while len(merges) < num_merges:
            top = Counter(zip(ids, ids[1:])).most_common(1)
            if not top or top[0][1] == 1:
                return merges
            (a, b), _ = top[0]
            out = []
            k = 0
            while k < len(ids):
                if k < len(ids) - 1 and ids[k] == a and ids[k + 1] == b:
                    out.append(len(merges) + 256)
                    k += 1
                else:
                    out.append(ids[k])
                k += 1
            ids = out
            merges.append((a, b))
        return merges

    # a list of lists
    def train_bpe(text, num_merges):
        ids = list(bytes(text, "utf-8"))
        merges = []
        for new in range(256, 256 + num_merges):
            pairs = [[ids[i], ids[i + 1]] for i in range(len(ids) - 1)]
            best, most = None, 1
            for p in pairs:
                if pairs.count(p) > most:
                    best, most = p, pairs.count(p)
            if best is None:
                break
            merges.append(best)
            i = 0
            while i < len(ids) - 1:
                if ids[i:i + 2] == best:
                    ids[i:i + 2] = [new]
                i += 1
        return merges

    # a regular expression over characters of a private kind
    import re
    from collections import Counter

    def train_bpe(text, num_merges):
        s = "".join(map(chr, text.encode()))
        merges = []
        for k in range(num_merges):
            c = Counter(a + b for a, b in zip(s, s[1:]))
            if not c or max(c.values()) < 2:
                break
            pair = max(c, key=c.__getitem__)
            s = s.replace(pair, chr(256 + k))
            merges.append((ord(pair[0]), ord(pair[1])))
        return merges

    # recursion
    def train_bpe(text, num_merges, ids=None, new=256):
        ids = list(text.encode()) if ids is None else ids
        pairs = list(zip(ids, ids[1:]))
        if num_merges == 0 or len(pairs) == len(set(pairs)):
            return []
        best = max(pairs, key=pairs.count)
        out = []
        for one in ids:
            if out and (out[-1], one) == best:
                out[-1] = new
            else:
                out.append(one)
        return [best] + train_bpe(text, num_merges - 1, out, new + 1)

    # torch
    import torch

    def train_bpe(text, num_merges):
        ids = torch.tensor(list(text.encode()), dtype=torch.long)
        merges = []
        for k in range(num_merges):
            if len(ids) < 2:
                break
            pairs = torch.stack([ids[:-1], ids[1:]], 1)
            same = (pairs[:, None] == pairs[None]).all(-1).sum(1)
            if same.max() < 2:
                break
            pair = pairs[same.argmax()]
            merges.append((pair[0].item(), pair[1].item()))
            out, skip = [], False
            for i in range(len(ids)):
                if skip:
                    skip = False
                    continue
                skip = i + 1 < len(ids) and bool((ids[i:i + 2] == pair).all())
                out.append(256 + k if skip else int(ids[i]))
            ids = torch.tensor(out)
        return merges

    # numpy ids, a tuple of pairs
    import numpy as np

    def train_bpe(text, num_merges):
        ids = np.frombuffer(text.encode(), np.uint8).astype(int)
        merges = ()
        while len(merges) < num_merges:
            counts = {}
            for pair in zip(ids[:-1], ids[1:]):
                counts[pair] = counts.get(pair, 0) + 1
            pair = max(counts, key=lambda p: counts[p], default=None)
            if pair is None or counts[pair] < 2:
                break
            out = []
            for one in ids:
                if out and out[-1] == pair[0] and one == pair[1]:
                    out[-1] = 256 + len(merges)
                else:
                    out.append(one)
            ids = np.array(out)
            merges += (pair,)
        return merges
    """
)


@pytest.mark.parametrize("style", TRAININGS)
def test_unusual_learning_is_accepted(style):
    verdict = check_source(TRAININGS[style])
    assert verdict.status == "passed", verdict.message


ENCODE = """
def bpe_encode(text, merges):
    ids = list(text.encode("utf-8"))
    for n, pair in enumerate(merges):
        out, i = [], 0
        while i < len(ids):
            if i < len(ids) - 1 and ids[i] == pair[0] and ids[i + 1] == pair[1]:
                out.append(256 + n)
                i += 2
            else:
                out.append(ids[i])
                i += 1
        ids = out
    return ids
"""


@pytest.mark.parametrize(
    ("right", "slip", "mistake"),
    [
        ("enumerate(merges)", "reversed(list(enumerate(merges)))", "merges-in-reverse"),
        ("enumerate(merges)", "enumerate(merges[::-1])", None),
        ("enumerate(merges)", "enumerate(merges[:-1])", "last-merge-left-out"),
        ("enumerate(merges)", "enumerate(sorted(merges))", None),
        ('list(text.encode("utf-8"))', "[ord(c) for c in text]", None),
        ("256 + n", "257 + n", "ids-from-257"),
        ("256 + n", "255 + n", "ids-from-255"),
        ("256 + n", "n", "ids-from-0"),
        ("i += 2", "i += 1", "second-half-kept"),
        ("        ids = out\n", "", "no-merges"),
        ("while i < len(ids):", "while i < len(ids) - 1:", "last-id-lost"),
        ("return ids", "return out", None),
        ("return ids", "return len(ids)", "number-of-tokens"),
        ("return ids", "import torch; return torch.tensor(ids)", "result-form"),
        ("return ids", "return bytes(i % 256 for i in ids)", "result-form"),
        ("return ids", "return ' '.join(map(str, ids))", "result-form"),
        ("return ids", "return [str(i) for i in ids]", None),
        ("return ids", "merges.clear(); return ids", None),
        ("    return ids", "    pass", "returns-nothing"),
        (" and ids[i + 1] == pair[1]", "", None),
    ],
)
def test_slip_in_encoding_is_named(right, slip, mistake):
    verdict = slipped(ENCODE, right, slip)
    if mistake is not None:
        assert verdict.mistake == mistake


WRONG_ENCODINGS = named(
    """
    # leftmost-first
    def bpe_encode(text, merges):
        vocab = {pair: 256 + i for i, pair in enumerate(merges)}
        ids = list(text.encode())
        changed = True
        while changed:
            changed = False
            for i in range(len(ids) - 1):
                if (ids[i], ids[i + 1]) in vocab:
                    ids[i:i + 2] = [vocab[ids[i], ids[i + 1]]]
                    changed = True
                    break
        return ids

    # longest-first
    def bpe_encode(text, merges):
        vocab = {bytes([i]): i for i in range(256)}
        table = [bytes([i]) for i in range(256)]
        for a, b in merges:
            vocab[table[a] + table[b]] = len(table)
            table.append(table[a] + table[b])
        data, ids, i = text.encode(), [], 0
        while i < len(data):
            j = len(data)
            while data[i:j] not in vocab:
                j -= 1
            ids.append(vocab[data[i:j]])
            i = j
        return ids

    # one-walk
    def bpe_encode(text, merges):
        ids, out, i = list(text.encode()), [], 0
        while i < len(ids):
            pair = tuple(ids[i:i + 2])
            if pair in merges:
                out.append(256 + merges.index(pair))
                i += 2
            else:
                out.append(ids[i])
                i += 1
        return out

    # learned-anew
    from autograder.parts import train_bpe

    def bpe_encode(text, merges):
        merges = train_bpe(text, len(merges))
        ids = list(text.encode())
        for n, pair in enumerate(merges):
            out = []
            for one in ids:
                if out and (out[-1], one) == pair:
                    out[-1] = 256 + n
                else:
                    out.append(one)
            ids = out
        return ids

    # byte-strings
    def bpe_encode(text, merges):
        table = [bytes([i]) for i in range(256)]
        for a, b in merges:
            table.append(table[a] + table[b])
        parts = [bytes([b]) for b in text.encode()]
        for a, b in merges:
            out = []
            for one in parts:
                if out and (out[-1], one) == (table[a], table[b]):
                    out[-1] += one
                else:
                    out.append(one)
            parts = out
        return parts

    # only-the-first-replaced
    def bpe_encode(text, merges):
        ids = list(text.encode())
        for n, pair in enumerate(merges):
            for i in range(len(ids) - 1):
                if (ids[i], ids[i + 1]) == pair:
                    ids[i:i + 2] = [256 + n]
                    break
        return ids

    # walked-while-it-shrinks
    def bpe_encode(text, merges):
        ids = list(text.encode())
        for n, (a, b) in enumerate(merges):
            for i in range(len(ids) - 1):
                if ids[i] == a and ids[i + 1] == b:
                    ids[i] = 256 + n
                    del ids[i + 1]
        return ids
    """
)


@pytest.mark.parametrize("mistake", WRONG_ENCODINGS)
def test_wrong_encoding_is_named(mistake):
    assert check_source(WRONG_ENCODINGS[mistake]).mistake == mistake


def test_merges_that_are_used_up_are_told():
    source = ENCODE.replace(
        "    for n, pair in enumerate(merges):",
        "    n = -1\n    while merges:\n        pair = merges.pop(0); n += 1",
    )
    verdict = check_source(source)
    assert verdict.mistake == "input-changed"


ENCODINGS = named(
    """
    # by rank: again and again the pair that was learned first
    def bpe_encode(text, merges):
        rank = {tuple(p): i for i, p in enumerate(merges)}
        ids = list(text.encode("utf-8"))
        while len(ids) >= 2:
            pair = min(zip(ids, ids[1:]), key=lambda p: rank.get(p, float("inf")))
            if pair not in rank:
                break
            new, i = [], 0
            while i < len(ids):
                if i < len(ids) - 1 and (ids[i], ids[i + 1]) == pair:
                    new.append(256 + rank[pair])
                    i += 2
                else:
                    new.append(ids[i])
                    i += 1
            ids = new
        return ids

    # text replacement
    def bpe_encode(text, merges):
        s = "".join(chr(b) for b in text.encode())
        for i, (a, b) in enumerate(merges):
            s = s.replace(chr(a) + chr(b), chr(256 + i))
        return [ord(c) for c in s]

    # in place, a tuple
    def bpe_encode(text, merges):
        ids = bytearray(text, "utf8")
        ids = [int(b) for b in ids]
        for new, (a, b) in zip(range(256, 10**6), merges):
            i = 0
            while i + 1 < len(ids):
                if ids[i] == a and ids[i + 1] == b:
                    ids[i] = new
                    del ids[i + 1]
                i += 1
        return tuple(ids)

    # fold
    from functools import reduce

    def bpe_encode(text, merges):
        def apply(ids, numbered):
            n, pair = numbered
            out = []
            for one in ids:
                if out[-1:] + [one] == list(pair):
                    out[-1:] = [256 + n]
                else:
                    out += [one]
            return out
        return reduce(apply, enumerate(merges), list(text.encode()))
    """
)


@pytest.mark.parametrize("style", ENCODINGS)
def test_unusual_encoding_is_accepted(style):
    verdict = check_source(ENCODINGS[style])
    assert verdict.status == "passed", verdict.message


DECODE = """
def bpe_decode(ids, merges):
    vocab = {i: bytes([i]) for i in range(256)}
    for n, (a, b) in enumerate(merges):
        vocab[256 + n] = vocab[a] + vocab[b]
    data = b"".join(vocab[i] for i in ids)
    return data.decode("utf-8", errors="replace")
"""

TELL = 'return data.decode("utf-8", errors="replace")'


@pytest.mark.parametrize(
    ("right", "slip", "mistake"),
    [
        (', errors="replace"', "", "strict"),
        ('"replace"', '"ignore"', "invalid-bytes-dropped"),
        ('"replace"', '"backslashreplace"', "invalid-bytes-spelled-out"),
        ('"utf-8"', '"ascii"', "ascii"),
        ('"utf-8"', '"latin-1"', "latin-1"),
        ('"utf-8"', '"utf-16"', None),
        (TELL, "return data", "bytes-returned"),
        (TELL, "return str(data)", None),
        (TELL, "return list(data)", "result-form"),
        (TELL, TELL + ".strip()", "stripped"),
        (TELL, "print(data.decode(errors='replace'))", "returns-nothing"),
        (
            TELL,
            "return ''.join(vocab[i].decode(errors='replace') for i in ids)",
            "decoded-one-by-one",
        ),
        (
            TELL,
            "return ''.join(vocab[i].decode() for i in ids)",
            "decoded-one-by-one-strictly",
        ),
        (
            TELL,
            "return [vocab[i].decode('utf-8', 'replace') for i in ids]",
            "list-returned",
        ),
        ("vocab[a] + vocab[b]", "vocab[b] + vocab[a]", "halves-exchanged"),
        ("vocab[a] + vocab[b]", "vocab[a]", "left-half-only"),
        ("256 + n", "257 + n", None),
        ("256 + n", "255 + n", "ids-from-255"),
        ("for i in ids)", "for i in reversed(ids))", "in-reverse"),
        ("for i in ids)", "for i in ids if i < 256)", "merged-ids-dropped"),
        ("for i in ids)", "for i in set(ids))", None),
        ('b"".join', 'b" ".join', "joined-with-spaces"),
        ("enumerate(merges)", "enumerate(reversed(merges))", None),
        (TELL, "return str(data)", "byte-string-spelled-out"),
        ("bytes([i]) for i", "bytes(i) for i", None),
        ("bytes([i]) for i", "chr(i).encode() for i", None),
    ],
)
def test_slip_in_decoding_is_named(right, slip, mistake):
    verdict = slipped(DECODE, right, slip)
    if mistake is not None:
        assert verdict.mistake == mistake


WRONG_DECODINGS = named(
    """
    # characters-for-bytes
    def bpe_decode(ids, merges):
        return "".join(map(chr, ids))

    # merged-ids-as-bytes
    def bpe_decode(ids, merges):
        return bytes(ids).decode("utf-8", errors="replace")

    # taken-apart-once
    def bpe_decode(ids, merges):
        out = []
        for i in ids:
            if i >= 256:
                out += [x for x in merges[i - 256] if x < 256]
            else:
                out.append(i)
        return bytes(out).decode("utf-8", errors="replace")

    # undone-in-training-order
    def bpe_decode(ids, merges):
        ids = list(ids)
        for n, (a, b) in enumerate(merges):
            out = []
            for i in ids:
                out += [a, b] if i == 256 + n else [i]
            ids = out
        return bytes(ids).decode("utf-8", errors="replace")
    """
)


@pytest.mark.parametrize("mistake", WRONG_DECODINGS)
def test_wrong_decoding_is_named(mistake):
    assert check_source(WRONG_DECODINGS[mistake]).mistake == mistake


def test_ids_that_are_used_up_are_told():
    source = DECODE.replace(
        "vocab[i] for i in ids", "vocab[ids.pop(0)] for _ in ids[:]"
    )
    verdict = check_source(source)
    assert verdict.mistake == "input-changed"


DECODINGS = named(
    """
    # merges undone from the last
    def bpe_decode(ids, merges):
        out = list(ids)
        for n in range(len(merges) - 1, -1, -1):
            new = []
            for i in out:
                new.extend(merges[n] if i == 256 + n else [i])
            out = new
        return bytes(out).decode("utf-8", "replace")

    # recursion
    def bpe_decode(ids, merges):
        def expand(i):
            if i < 256:
                return [i]
            a, b = merges[i - 256]
            return expand(a) + expand(b)
        return str(bytes(x for i in ids for x in expand(i)), "utf8", "replace")

    # a stack
    def bpe_decode(ids, merges):
        stack, out = list(ids)[::-1], bytearray()
        while stack:
            i = stack.pop()
            if i < 256:
                out.append(i)
            else:
                stack.extend(reversed(merges[i - 256]))
        return out.decode(errors="replace")

    # incremental decoder
    import codecs

    def bpe_decode(ids, merges):
        table = [bytes([i]) for i in range(256)]
        for a, b in merges:
            table.append(table[a] + table[b])
        decoder = codecs.getincrementaldecoder("utf-8")("replace")
        text = "".join([decoder.decode(table[i]) for i in ids])
        return text + decoder.decode(b"", True)
    """
)


@pytest.mark.parametrize("style", DECODINGS)
def test_unusual_decoding_is_accepted(style):
    verdict = check_source(DECODINGS[style])
    assert verdict.status == "passed", verdict.message
