"""The Fashion-MNIST speed record: its rule, its data, its statistics."""
