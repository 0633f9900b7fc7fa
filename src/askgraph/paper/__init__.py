"""The paper, redrawn: its data, its runs, its figures and tables, and a verdict on each of its claims."""
