"""What a readout is: votes become class probabilities, a few classes at a time."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable

from scipy.sparse import csr_array

from askgraph.field import Field
from askgraph.readouts.view import ByBlock, View
from askgraph.types import Array

ReadoutFunction = Callable[..., Array]
Steps = tuple[Array, Callable[[Array, Array], Array]]


class Readout(ABC):
    """How votes become class probabilities: inherit it, or pass a function, to ``Learner(graph, readout=...)``.

    A function ``(field, votes=None, links=None)`` returns the probabilities of all nodes, one row per node and one column per
    class; with ``votes``, those of samples outside the graph that ``links`` tie to nodes. A class that inherits this one
    implements :meth:`by_block`, and is then read a few classes at a time where there are many, so that ``predict(top=3)`` makes
    no array of all nodes and all classes. What either returns is checked, and an exact answer stands at its node whatever they
    return there.

    Examples
    --------
    Readouts of your own: the votes as they are, scaled to the sum 1.

    >>> import numpy as np
    >>> import askgraph as ag
    >>> def plain(field, votes=None, links=None):
    ...     votes = 1e-9 + np.maximum(field.votes if votes is None else votes, 0.0)
    ...     return votes / votes.sum(axis=1, keepdims=True)
    >>> class Plain(ag.Readout):
    ...     def by_block(self, view):
    ...         return view.shares(lambda block: 1e-9 + view.votes(block))
    >>> for readout in (plain, Plain()):
    ...     learner = ag.Learner(ag.chain(4), readout=readout, rng=0)
    ...     learner.tell_all({0: "left", 3: "right"})
    ...     learner.predict().tolist()
    ['left', 'left', 'right', 'right']
    ['left', 'left', 'right', 'right']
    """

    @property
    def whole(self) -> bool:
        """Whether all classes must be read at once; with False, those without a label must get equal probabilities."""
        return False

    @abstractmethod
    def by_block(self, view: View) -> ByBlock:
        """Return the class probabilities of the rows of a view, as a function of a block of classes.

        Parameters
        ----------
        view : View
            What is read: ``view.votes(block)`` are the votes of the rows for the classes of a block, at least 0, ``view.field``
            is the field; ``view.row_totals(source)`` and ``view.row_highest(source)`` are the sum and the maximum over all
            classes of such a function, and ``view.shares(source)`` divides one by its sum.

        Returns
        -------
        callable
            A function from a block, one of ``view.blocks``, to an array: one row per row of the view, one column per class of
            the block. With all blocks side by side, each row adds up to 1; a class may stand for several,
            ``block.repeats`` of them.
        """

    def read(self, view: View) -> ByBlock:
        """Return the same where answers stand at their nodes as they were given.

        Parameters
        ----------
        view : View
            What is read.

        Returns
        -------
        callable
            A function from a block of classes to their probabilities.
        """
        return view.standing(self.by_block(view))

    def __call__(self, field: Field, votes: Array | None = None, links: csr_array | None = None) -> Array:
        """Return the class probabilities of the nodes, or of samples outside the graph.

        Parameters
        ----------
        field : Field
            The field.
        votes : array, optional
            The votes of samples outside the graph, one row per sample; by default the votes of the nodes.
        links : scipy.sparse.csr_array, optional
            The weights that tie these samples to nodes, one row per sample, one column per node.

        Returns
        -------
        array
            One row per node (or sample), one column per class.
        """
        view = View.of(field, votes, links)
        return self.read(view)(view.blocks[0])

    def steps(self, field: Field) -> Steps:
        """Return the two steps of this readout, for who has more to say of nodes between them, such as guesses of models.

        Parameters
        ----------
        field : Field
            The field.

        Returns
        -------
        tuple of array and callable
            The probabilities of nodes by what is known of each alone, and the function (those, the same with what neighbors
            say) that listens to the neighbors. By default nobody listens: the function returns its first argument.
        """
        return self(field), lambda own, others: own

    def weight_of_shares(self, field: Field) -> float:
        """Return the weight of the class shares in the probabilities: 0, unless the readout mixes them in.

        Parameters
        ----------
        field : Field
            The field.

        Returns
        -------
        float
            The weight, from 0 to 1: the expected error is weighed in the same way.
        """
        return 0.0
