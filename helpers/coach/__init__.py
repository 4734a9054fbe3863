"""Help in a lab: hints in three strengths, our solution, and the quiz at its end."""

from helpers.coach.hints import hint
from helpers.coach.quizzes import quiz
from helpers.coach.solutions import show_solution

__all__ = ["hint", "quiz", "show_solution"]
