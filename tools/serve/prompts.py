"""Prompts for comparing servers: different in subject and length."""

PROMPTS = (
    "The capital of France is",
    "Water boils at a temperature of",
    "Once upon a time, in a village by the sea,",
    "The three laws of motion say that",
    "A recipe for bread needs flour, water, salt and",
    "In the beginning God created the heaven and the earth. And the earth was",
    "We the People of the United States, in Order to form a more perfect Union,",
    "To be, or not to be, that is",
    "The quick brown fox jumps over",
    "List five animals that live in the forest: 1.",
    "Photosynthesis is the process by which plants",
    "The sum of the angles of a triangle is",
    "Dear Sir, I am writing to you about the house that you advertised last week, and would like to know",
    "In 1492, Christopher Columbus",
    "The moon goes around the earth in about",
    "A good way to learn a language is to",
)


def first_difference(left: list, right: list) -> int | None:
    """The position of the first difference; None when they are the same."""
    for position, (ours, theirs) in enumerate(zip(left, right)):
        if ours != theirs:
            return position
    return None if len(left) == len(right) else min(len(left), len(right))
