"""Help in a lab: hints in three strengths, and the quiz at its end."""

from helpers.coach.hints import hint
from helpers.coach.quizzes import quiz

__all__ = ["hint", "quiz"]
