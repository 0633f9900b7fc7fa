"""What files for other tools are called unless somebody names them, by the tool."""

from __future__ import annotations

FORMAT_NAMES: dict[str, str] = {
    "answers": "answers.csv",
    "columns": "columns.csv",
    "asreview": "asreview.csv",
    "labelstudio": "label-studio.json",
    "argilla": "argilla.json",
    "huggingface": "hugging-face.parquet",
    "spacy": "spacy.jsonl",
    "fasttext": "fasttext.txt",
    "ris": "references.ris",
}
