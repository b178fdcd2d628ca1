"""Embedding: conversion of texts to vectors by a sentence-transformers model on this machine.

Nothing is imported here, so that importing the settings does not load the implementation."""
