"""Catalogues of data sets, one file per API, each a `DatasetSource`; `adapter.py` binds one to an evaluation."""
