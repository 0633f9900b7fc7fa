"""The arena: methods that ask for labels, compared on the same graphs, first questions and budgets."""
