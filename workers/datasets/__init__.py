"""Data set catalogues, one module per API, each implementing `DatasetSource`; `adapter.py` binds one to an
evaluation."""
