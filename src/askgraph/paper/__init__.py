"""The paper, redrawn: its data, runs, figures and tables, and a verdict on each claim. Nothing else may depend on it but cli."""
