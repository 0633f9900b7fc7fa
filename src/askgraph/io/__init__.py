"""Readers of files: graphs, labels and tables from csv, tsv, xlsx, ods, jsonl, parquet, npz and others; nothing is written here."""
