"""The computer that runs the labs: devices, memory, kernel, TensorFlow's messages."""
