"""Neighbours of viewpoints: a FAISS index that grows with the graph and can always be made again from it."""

from index.viewpoints.neighbours import FaissNeighbours

__all__ = ["FaissNeighbours"]
