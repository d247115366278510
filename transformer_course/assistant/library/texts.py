"""Texts and questions for unit 8's demonstrations with the published chat model."""

from __future__ import annotations

# Written for this course, so that no model was trained on it.
ESSAY = (
    "Bees do not fly straight home. When a worker finds a field of clover, she fills "
    "her stomach, circles twice above the place, and returns to the hive, where she "
    "dances. The angle of her dance tells the others which way to fly, and its length "
    "tells them how far. On cloudy days, bees can still find the sun, because they see "
    "how light from the sky is polarised. A beekeeper who moves a hive by a few metres "
    "will confuse its bees for an afternoon; one who moves it by several kilometres "
    "will not, because they learn the new landscape as if they had never lived "
    "anywhere else.\n\n"
    "My grandmother kept four hives behind the house, and she talked to them. When "
    "somebody in the village died or married, she walked out after supper, knocked on "
    "each box with her key, and told the news. We children thought that this was a "
    "game. Only much later did I learn that people all over Europe had done the same "
    "for centuries, and that they believed a hive would leave, or stop making honey, "
    "if it was not told. She did not believe it, she said when I asked her. But it was "
    "a good habit to say aloud once a year what had changed, and the bees were the "
    "only ones who never interrupted.\n\n"
    "The year after she died, the hives stood empty. In the spring I cleaned the "
    "frames, bought two small colonies from a man in the next valley, and carried them "
    "home at night in the back of the car, with the windows open and the radio off. I "
    "did not know what to tell them, so I read them the label of the box: that they "
    "were calm, that they came from the mountains, and that the queen was marked with "
    "a blue dot."
)

# A question, its answer, and three other choices.
CHOICES = [
    line.split("|")
    for line in """\
What do bees make?|honey|a hole in the ground|the roof of a house|milk
Where does the sun rise?|in the east|west|in the north of the country|at sea
What do plants need to grow?|light and water|salt|a good night's sleep|noise
Which animal lays eggs?|a chicken|a dog|the horse that pulls a cart|cat
Why do people wear coats in winter?|because they keep them warm|fashion|to swim|by law
What is ice?|frozen water|glass|a kind of metal|fire
How many legs does a spider have?|eight|four|two of them are long|none
What happens to iron in the rain?|It rusts.|It sings.|It becomes lighter.|Nothing.
What does a doctor do?|treats people who are ill|sings|sells bread|repairs old cars
When do leaves fall?|in autumn|in the first week of May|at night|never
What is used to cut paper?|a pair of scissors|soup|water|a spoon from the kitchen
Which of these is a planet?|Mars|the Moon|a star that is very far away|London
What do we breathe?|air|stones|the colour blue|water
What is the opposite of hot?|cold|warm|a cup of tea|summer
Who writes books?|an author|a pilot|the driver of a bus|bird
What is a triangle?|a shape with three sides|a shape|a circle|number
Where do fish live?|in water|in trees|in the sky above the clouds|desert
What melts in the sun?|ice cream|stone|the wall of a castle|iron
What is the capital of Italy?|Rome|Paris|a city in the south of Spain|Berlin
How do birds fly?|with their wings|by car|with their feathers cut|magic""".splitlines()
]
SHOWN = (CHOICES[2][0], CHOICES[12][0])  # questions whose choices are printed

FRANCE = "What is the capital of France?"
BITS = (8, 6, 5, 4)

# Typical questions that this assistant answers incorrectly, or correctly only by luck.
HARD = (
    "What is 17 + 25?",
    "How many letters r are in the word strawberry?",
    'Translate into French: "The cat sleeps on the table."',
    "Who won the Nobel Prize in Literature in 1950?",
    "What did I eat for breakfast this morning?",
    "What is the name of the King of Karlsbach?",
    "Anna is taller than Ben. Ben is taller than Carl. Who is the shortest?",
    "Write a sentence without the letter e.",
)
