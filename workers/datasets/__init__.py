"""Data set catalogues, one file per API, each implementing `DatasetSource`; `adapter.py` binds one to an evaluation."""
