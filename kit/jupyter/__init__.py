"""The course's part of JupyterLab: its server extension and the start page."""
