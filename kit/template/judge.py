"""Questions, verdicts and hints of lab 99."""

TITLES = {"99.1": "every image is in one of the steps"}

HINTS = {
    "99.1": {
        "dropped": "Which images are in no step of yours?",
        "too_many": "If the batches fill up exactly, is there another one?",
        "raised": "Read Python's error above. Does your function take two numbers?",
        "other": "Count by hand: 5 images in batches of 2.",
    },
}


def steps_question(rng):
    """Pairs of images and batch size: one that divides, and two that do not."""
    batch_size, steps = rng.randint(8, 64), rng.randint(5, 50)
    exact = batch_size * steps
    return {"cases": [[exact + extra, batch_size] for extra in (0, 1, batch_size - 1)]}


def judge_steps(question, observation):
    """Every image once: full batches, and one more for the rest."""
    cases = zip(question["cases"], observation["steps"], strict=True)
    for (images, batch_size), said in cases:
        right = -(-images // batch_size)
        if said == right:
            continue
        reason = f"{images} images in batches of {batch_size}: {said} steps, not {right}"
        if said == images // batch_size:
            return reason, "dropped"
        return reason, "too_many" if said == images // batch_size + 1 else "other"
    return None


CHALLENGES = {"99.1": steps_question}
JUDGES = {"99.1": judge_steps}
