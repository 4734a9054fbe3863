"""Programs for operators: labs without a browser, sweeps, reports, plans."""
