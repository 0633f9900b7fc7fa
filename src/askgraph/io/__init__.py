"""Files in: graphs, labels and tables from csv, tsv, jsonl, parquet, npz and the like; what is written lives with its owner."""
