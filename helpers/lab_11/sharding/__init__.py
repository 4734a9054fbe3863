"""What workers share: the optimizer (ZeRO), and the layers of a mesh."""
