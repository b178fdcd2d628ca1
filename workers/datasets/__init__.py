"""Data set catalogues, one module per API. Each implements `DatasetSource`; `adapter.py` binds one to an evaluation."""
