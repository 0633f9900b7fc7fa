"""The scikit-learn face: rows in, classes or numbers out, and which row to label next."""

from __future__ import annotations

from askgraph.estimator.classifier import GraphClassifier
from askgraph.estimator.folds import LabeledKFold
from askgraph.estimator.regressor import GraphRegressor

__all__ = ["GraphClassifier", "GraphRegressor", "LabeledKFold"]
