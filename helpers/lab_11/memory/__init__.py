"""Where the bytes of a training go: the transformer, counted, compiled and run."""
