"""The rules for the parameters of lab 04."""

from helpers.notebook.estimate import Cost, Network
from helpers.parameters import by_scale, usual, whole

# What a parameter that was left at None is at each scale.
SIZES = by_scale(  # smoke, laptop, gpu
    train_newswires=(330, 8982, 8982),
    valid_newswires=(70, 2246, 2246),
    vocabulary=(2000, 30_982, 30_982),
    words=(100, 300, 300),
    eager_steps=(1, 4, 10),
    graph_steps=(3, 20, 100),
)
RULES = usual("learning_rate", "patience") | {
    "train_newswires": whole(1, 8_982),
    "valid_newswires": whole(1, 2_246),
    "vocabulary": whole(100, 30_982),
    "words": whole(20, 2_000),
}


def cost(values: dict) -> Cost:
    """Trainings of the network for texts."""
    network, batch = text_cnn(values["words"], values["vocabulary"]), values["batch_size"]
    examples = values["epochs"] * values["train_newswires"]
    return Cost(network.seconds(examples, batch), network.bytes(batch))


def text_cnn(words: int, vocabulary: int) -> Network:
    """About the size of the network for texts.

    Parameters
    ----------
    words, vocabulary : int

    Returns
    -------
    helpers.notebook.estimate.Network
    """
    # Convolutions of 5 by 7 by 64 for each word, and 3 by 64 by 32 for each second one.
    return Network(5680 * words, 136 * words, 7 * vocabulary + 380 * words)
