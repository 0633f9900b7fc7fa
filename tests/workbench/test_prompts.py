"""Prompts for a language model and its replies: what is asked, what leaks, what is asked again, what is understood."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from askgraph.cli.app import app
from askgraph.errors import FileError, SettingError
from askgraph.workbench.project import Project
from askgraph.workbench.prompts import count_tokens, write_prompts
from askgraph.workbench.replies import read_label
from askgraph.workbench.source import Source
from tests.helpers.projects import make, make_of


@pytest.fixture
def made(tmp_path, monkeypatch):
    """A project of eight mails; two are labeled, one by a column that nobody sees."""
    monkeypatch.chdir(tmp_path)
    rows = "".join(f"secret-{k},free money &amp; prize {k},{k},{'ham' if k == 7 else ''}\n" for k in range(8))
    (tmp_path / "mails.csv").write_text("id,body,size,verdict\n" + rows)
    source = Source(tmp_path / "mails.csv", text=["body"], label="verdict", neighbors=2)
    Project.create(tmp_path / "mails.ask", source, classes=["Spam", "ham"])
    with Project.open(tmp_path / "mails.ask", write=True) as project:
        project.log.write_guidelines("olga", "Money is **spam**.\n")
        project.log.change("olga", "describe", "ham", "What friends write")
        project.say("olga", "secret-0", "label", "Spam")
        project.say("olga", "secret-1", "invalid")
    return tmp_path / "mails.ask"


def run(*words):
    done = CliRunner().invoke(app, list(words))
    assert done.exit_code == 0, (done.output, done.exception)
    return done.stdout


def requests(path="prompts.jsonl"):
    with open(path) as lines:
        return [json.loads(line) for line in lines]


def reply(request, content, model="gpt-x-2026", **more):
    """A line of the output of a batch."""
    body = {"id": "r", "model": model, "choices": [{"index": 0, "message": {"role": "assistant", "content": content}}]}
    response = {"status_code": 200, "request_id": "q", "body": body}
    return (
        json.dumps({"id": "b", "custom_id": request["custom_id"], "response": response, "error": None, **more}) + "\n"
    )


def test_one_request_per_item_without_a_label_and_nothing_leaks(made):
    said = run("export", "--for", "prompts", "--model", "gpt-x")
    asked = requests()
    assert len(asked) == len({one["custom_id"] for one in asked}) == 5  # not those labeled, nor what is no item
    first = asked[0]
    assert list(first) == ["custom_id", "method", "url", "body"]
    assert (first["method"], first["url"], first["body"]["model"]) == ("POST", "/v1/chat/completions", "gpt-x")
    system, user = first["body"]["messages"]
    assert (system["role"], user["role"]) == ("system", "user")
    assert "Money is **spam**." in system["content"]
    assert "- Spam\n- ham: What friends write" in system["content"]
    assert user["content"] == "body: free money & prize 2\nsize: 2"
    written = Path("prompts.jsonl").read_text()
    assert not any(word in written for word in ("secret", "olga", "verdict", str(made.parent)))
    tokens = sum(count_tokens(message["content"]) for one in asked for message in one["body"]["messages"])
    assert f"5 requests to gpt-x in prompts.jsonl, about {tokens:,} tokens to read (an estimate" in said
    assert "askgraph sends nothing" in said


def test_replies_come_back_and_what_was_answered_is_not_asked_again(made):
    run("export", "--for", "prompts", "--model", "gpt-x")
    asked = requests()
    contents = ['"Spam".', '{"label": "HAM", "score": 0.75}', "I cannot tell", "spam"]
    lines = [reply(one, content) for one, content in zip(asked[:4], contents, strict=True)]
    failed = {"status_code": 429, "body": {"error": {"message": "slow down"}}}
    lines.append(json.dumps({"custom_id": asked[4]["custom_id"], "response": failed, "error": None}) + "\n")
    lines.append(reply({"custom_id": "nobody"}, "spam"))
    Path("replies.jsonl").write_text("".join(reversed(lines)))  # servers keep no order
    said = run("suggest", "replies.jsonl")
    assert "gpt-x-2026: 3 guesses" in said
    assert "1 line left out, no class of the project ('Spam', 'ham'): 'I cannot tell' on line 4" in said
    assert "1 line left out, the request failed: 'slow down' on line 2" in said
    assert "1 line left out, no item of the project was asked about so: 'nobody' on line 1" in said
    with Project.open(made) as project:
        found = {one.item: (one.label, one.score) for one in project.store.guesses()}
        assert found == {2: ("Spam", None), 3: ("ham", 0.75), 5: ("Spam", None)}
        assert len(project.answers.labels) == 2
    again = run("export", "--for", "prompts", "--model", "gpt-x")
    assert "2 requests" in again
    assert "3 left out, whose prompt this model has answered already" in again
    assert [one["custom_id"] for one in requests()] == [asked[2]["custom_id"], asked[4]["custom_id"]]
    assert "5 requests" in run("export", "--for", "prompts", "--model", "another")
    run("classes", "describe", "Spam", "Adverts")
    assert "5 requests" in run("export", "--for", "prompts", "--model", "gpt-x")  # another prompt


def test_replies_find_their_items_when_others_have_gone(made):
    run("export", "--for", "prompts", "--model", "gpt-x")
    last = requests()[-1]
    run("remove", "secret-2", "secret-4", "--yes")
    run("classes", "rename", "Spam", "junk")
    Path("replies.jsonl").write_text(reply(last, "spam") + reply({"custom_id": "secret-3"}, "Spam"))
    said = run("suggest", "replies.jsonl")
    assert "gpt-x-2026: 1 guess" in said
    with Project.open(made) as project:
        assert {(project.items.item(one.item).id, one.label) for one in project.store.guesses()} == {
            ("secret-3", "junk")
        }


@pytest.mark.parametrize(
    ("content", "label", "score"),
    [
        ("Spam", "Spam", None),
        ("  spam\n", "Spam", None),
        ("**Spam**.", "Spam", None),
        ("„ham“", "ham", None),
        ("Label: ham", "ham", None),
        ("The class is ham.", "ham", None),
        ('{"label": "ham"}', "ham", None),
        ('{"Class": "ham", "confidence": "0.9"}', "ham", 0.9),
        ('```json\n{"label": "ham", "score": 7}\n```', "ham", None),
        ('["ham"]', "ham", None),
        ('{"result": "ham"}', "ham", None),
        ('Here you are: {"label": "ham"}', "ham", None),
        ("<think>spam? no</think>\nham", "ham", None),
        ("7", "7", None),
        ("a", None, None),
        ("spam or ham", None, None),
        ("not spam", None, None),
        ("", None, None),
        ("null", None, None),
        ("true", None, None),
        ('{"label": ["ham", "spam"]}', None, None),
        ("[" * 100_000, None, None),
    ],
)
def test_a_reply_is_understood_or_left_out(content, label, score):
    assert read_label(content, ["Spam", "ham", "7"]) == (label, score)


def test_two_classes_that_differ_in_case_alone_are_told_apart():
    assert read_label("Us", ["US", "us"]) == (None, None)
    assert read_label("us", ["US", "us"]) == ("us", None)


@pytest.mark.parametrize(
    "line",
    ["{}", '{"custom_id": null}', '{"custom_id": 3, "response": 4}', '{"custom_id": "x", "response": {"body": []}}'],
)
def test_odd_replies_are_refused_with_a_reason(made, line):
    Path("odd.jsonl").write_text(f'{{"custom_id": "a"}}\n{line}\n')
    with (
        Project.open(made, write=True) as project,
        pytest.raises(FileError, match=r"no reply fits\. odd.jsonl: 2 lines"),
    ):
        project.suggest("odd.jsonl")


def test_prompts_are_refused_that_cannot_be(made, tmp_path):
    for words, error in (
        (["--for", "prompts"], "which model is asked"),
        (["--for", "spacy", "--model", "x"], "add --for prompts"),
    ):
        assert error in str(CliRunner().invoke(app, ["export", *words]).exception)
    for path in (
        make(tmp_path / "none.ask"),
        make_of(tmp_path / "n.ask", "numbers"),
        make_of(tmp_path / "s.ask", "several"),
    ):
        with Project.open(path) as project, pytest.raises(SettingError, match="classes"):
            write_prompts(project, tmp_path / "p.jsonl", "x")
    assert not (tmp_path / "p.jsonl").exists()
    Path("replies.jsonl").write_text(reply({"custom_id": "i1"}, "spam"))
    with (
        Project.open(tmp_path / "none.ask", write=True) as project,
        pytest.raises(SettingError, match="there are none"),
    ):
        project.suggest("replies.jsonl")


def test_steps_are_named_in_their_order(tmp_path):
    with Project.open(make_of(tmp_path / "o.ask", "ordered")) as project:
        assert write_prompts(project, tmp_path / "p.jsonl", "x").requests == 12
    text = requests(tmp_path / "p.jsonl")[0]["body"]["messages"][0]["content"]
    assert "from the lowest to the highest:\n\n- bad\n- fair\n- good" in text
