"""What operators run: labs without a browser, sweeps, reports, plans."""
