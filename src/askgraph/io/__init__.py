"""Readers of files: graphs, labels and tables from csv, tsv, jsonl, parquet, npz and the like; nothing is written here."""
