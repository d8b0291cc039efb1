"""Which answers share what hardly anybody else wrote.

An index from fingerprint to answers finds the pairs, so a class of thousands needs no
comparison of everybody with everybody. What the book's own solution has, and what many
of the class have, says nothing and is left out first.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations, groupby

from autograder.registry import EXERCISES
from autograder.similarity.answers import Answer, of_reference

#: The share of two answers' own fingerprints, from which a pair is shown.
THRESHOLD = 0.65
#: Fingerprints of its own that an answer needs: less is what anybody might write.
LEAST = 24
#: A fingerprint that more answers than this have is everybody's.
FEW, MANY, SHARE = 5, 40, 0.2


@dataclass(frozen=True)
class Pair:
    """Two answers to one exercise, and how much of what is their own is the same."""

    one: Answer
    other: Answer
    score: float  # shared of all that either has of its own
    shared: tuple[int, ...]

    @property
    def exercise(self) -> str:
        return self.one.exercise


@dataclass(frozen=True)
class Group:
    """Submissions that hang together by pairs, the most telling pair first."""

    submissions: tuple[str, ...]
    pairs: tuple[Pair, ...]


@dataclass(frozen=True)
class Found:
    """All pairs above the threshold, in groups; and how much was comparable."""

    pairs: tuple[Pair, ...]
    groups: tuple[Group, ...]
    compared: int  # answers with enough of their own
    ordinary: int  # answers that are too short, or too much like everybody's


def alike(answers: Sequence[Answer]) -> Found:
    """Find the pairs, exercise by exercise."""
    order = {name: number for number, name in enumerate(EXERCISES)}
    by_exercise = sorted(answers, key=lambda one: order[one.exercise])
    pairs: list[Pair] = []
    compared = 0
    for exercise, given in groupby(by_exercise, key=lambda one: one.exercise):
        theirs = own_prints(list(given), of_reference(exercise))
        compared += len(theirs)
        pairs += _pairs(theirs)
    pairs.sort(key=_telling)
    return Found(tuple(pairs), tuple(_groups(pairs)), compared, len(answers) - compared)


Own = list[tuple[Answer, frozenset[int]]]


def own_prints(answers: Sequence[Answer], ordinary: Iterable[int]) -> Own:
    """What is an answer's own, of those that have enough of it."""
    limit = common_from(len(answers))
    count = Counter(one for answer in answers for one in answer.prints)
    everybodys = {one for one, times in count.items() if times > limit}
    everybodys |= set(ordinary)
    found = [(one, frozenset(one.prints.keys() - everybodys)) for one in answers]
    return [(answer, own) for answer, own in found if len(own) >= LEAST]


def common_from(answers: int) -> int:
    """How many answers may share a fingerprint before it is everybody's."""
    return max(FEW, min(MANY, int(SHARE * answers)))


def _pairs(theirs: Own) -> list[Pair]:
    where: defaultdict[int, list[int]] = defaultdict(list)
    for number, (_, own) in enumerate(theirs):
        for one in own:
            where[one].append(number)
    shared: Counter[tuple[int, int]] = Counter()
    for numbers in where.values():
        shared.update(combinations(numbers, 2))
    found = []
    for (a, b), count in shared.items():
        (left, first), (right, second) = theirs[a], theirs[b]
        score = count / (len(first) + len(second) - count)
        if score >= THRESHOLD and left.submission != right.submission:
            found.append(Pair(left, right, score, tuple(sorted(first & second))))
    return found


def _telling(pair: Pair) -> tuple[float, int, str, str]:
    return (
        -round(pair.score * len(pair.shared), 6),
        -len(pair.shared),
        pair.one.submission,
        pair.other.submission,
    )


def _groups(pairs: Iterable[Pair]) -> list[Group]:
    """Submissions joined by pairs, those with the most telling pair first."""
    leader: dict[str, str] = {}

    def lead(name: str) -> str:
        while leader.setdefault(name, name) != name:
            leader[name] = name = leader[leader[name]]
        return name

    pairs = list(pairs)
    for pair in pairs:
        leader[lead(pair.other.submission)] = lead(pair.one.submission)
    together: dict[str, list[Pair]] = {}
    for pair in pairs:
        together.setdefault(lead(pair.one.submission), []).append(pair)
    return [
        Group(
            tuple(sorted({a.submission for p in found for a in (p.one, p.other)})),
            tuple(found),
        )
        for found in together.values()
    ]
