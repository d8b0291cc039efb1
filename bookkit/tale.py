"""A short text to cut into tokens, and its first sentences in other languages."""

TALE = (
    "The mill stands by the river. The river turns the wheel, the wheel turns the "
    "stone, and the stone grinds the wheat. The miller never turns anything; the "
    "miller listens. When the river is high, the wheel sings and the stone rumbles. "
    "When the river is low, the wheel groans and the stone whispers. When nothing "
    "turns, the miller wakes, walks down to the river, and talks to the wheel. The "
    "wheel has heard it all before. Then it rains in the hills, the river rises, the "
    "wheel turns, the stone turns, and the miller goes back to bed, listening.\n"
)

ELSEWHERE = {
    "English": "The mill stands by the river. The river turns the wheel.",
    "German": "Die Mühle steht am Fluss. Der Fluss dreht das große Rad.",
    "Greek": "Ο μύλος είναι δίπλα στο ποτάμι. Το νερό γυρίζει τον τροχό.",
    "Chinese": "磨坊在河边。河水转动水轮。",
}
