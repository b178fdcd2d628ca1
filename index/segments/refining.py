"""An approximate index whose candidates are scored again with the vectors themselves, all of it by FAISS."""

from typing import Any

import numpy as np

from assayer.ports import Vectors
from index.libraries import load_faiss

__all__ = ["refined"]


def refined(index: Any, vectors: Vectors) -> Any:
    """`vectors`, in half precision, are read where they lie, without a copy; they must stay there as long as this."""
    return load_faiss().IndexRefine(index, _in_place(vectors))


def _in_place(vectors: Vectors) -> Any:
    faiss, bytes_of = load_faiss(), vectors.view(np.uint8)
    half = faiss.ScalarQuantizer.QT_fp16
    stored = faiss.IndexScalarQuantizer(vectors.shape[1], half, faiss.METRIC_INNER_PRODUCT)
    nobody = stored.codes.owner  # a null pointer, which Python has no other way to write
    address = faiss.swig_ptr(bytes_of)
    stored.codes = faiss.MaybeOwnedVectorUInt8.create_view(address, bytes_of.nbytes, nobody)
    stored.ntotal = len(vectors)
    return stored
