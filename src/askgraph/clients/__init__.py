"""Askgraph inside other programs: AnnData, loops of active learning, notebooks; none of their libraries is loaded unless used."""
