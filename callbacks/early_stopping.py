"""Stop as soon as the validation accuracy is good enough."""

import keras


class StopAtAccuracy(keras.callbacks.Callback):
    """Stop after `patience` epochs in a row above `target`.

    Prints ``Early stopping after epoch 7``.

    Parameters
    ----------
    target : float
        Validation accuracy to exceed, in [0, 1].
    patience : int
        Epochs in a row that must exceed it; one that does not resets the count.

    Notes
    -----
    Accuracies are rounded to six decimals: 850 of 1,000 is 0.8500000238 in float32, and
    not above a target of 0.85.
    """

    def __init__(self, target: float = 0.85, patience: int = 2) -> None:
        super().__init__()
        self.target, self.patience = target, patience

    def on_train_begin(self, logs: dict | None = None) -> None:
        self.met = 0

    def on_epoch_end(self, epoch: int, logs: dict | None = None) -> None:
        accuracy = (logs or {}).get("val_accuracy")
        if accuracy is None:
            print("StopAtAccuracy needs metrics=['accuracy'] and validation_data.")
            return
        # Six decimals: in float32 850 of 1,000 is 0.8500000238.
        self.met = self.met + 1 if round(accuracy, 6) > self.target else 0
        if self.met >= self.patience:
            self.model.stop_training = True
            print(f"Early stopping after epoch {epoch + 1}")
