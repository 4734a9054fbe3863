"""The computer under the labs: devices, memory, the kernel, TensorFlow's noise."""
