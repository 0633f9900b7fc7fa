"""What a request may hold: the bodies and queries of the routes, checked before the desk sees them."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, Field, StrictFloat

from askgraph.web.rights import speaker

MAX_INTEGER = 2**53  # JavaScript cannot represent larger integers exactly
POLYGON = r"^(-?\d{1,3}(\.\d{1,6})?,-?\d{1,3}(\.\d{1,6})?(,|$)){3,}$|^$"  # x,y of at least three corners

Name = Annotated[str, Field(min_length=1, max_length=200)]
Who = Annotated[Name, AfterValidator(speaker)]  # who sends the request: the name of a session counts, not what is sent
Key = Annotated[str, Field(min_length=8, max_length=100)]
Download = Literal[
    "csv",
    "xlsx",
    "jsonl",
    "parquet",
    "answers",
    "columns",
    "labelstudio",
    "argilla",
    "huggingface",
    "spacy",
    "fasttext",
    "ris",
    "how",
]
Id = Annotated[str, Field(min_length=1, max_length=10_000)]
ClassName = Annotated[str, Field(max_length=1000)]
ClassNames = Annotated[list[ClassName], Field(max_length=1000)]
# A class, several classes, a number, or one of some classes; whether it fits the project, the project says.
Said = ClassName | ClassNames | StrictFloat | dict[Literal["one of"], ClassNames]


class Asking(BaseModel):
    """A request for a question: the person, and the item that is on the screen already."""

    who: Who
    holding: Id | None = None


class Answering(BaseModel):
    """One answer, saved once per key.

    ``holding`` is the item on the screen if the answer is to another one, ``review`` says that it is given on a second look.
    """

    key: Key
    who: Who
    item: Id
    kind: Literal["label", "later", "cannot", "invalid"]
    label: Said | None = None
    seconds: Annotated[float, Field(ge=0, le=86_400)] | None = None
    holding: Id | None = None
    review: bool = False


class One(BaseModel):
    """One of several answers."""

    item: Id
    kind: Literal["label", "later", "cannot", "invalid"]
    label: Said | None = None


class Many(BaseModel):
    """Several answers of one person, saved all or none."""

    key: Key
    who: Who
    answers: Annotated[list[One], Field(max_length=10_000)]


class Undoing(BaseModel):
    """A request to take back the last answer of a person; ``holding`` is the item on the screen if that is to stay."""

    key: Key
    who: Who
    holding: Id | None = None


class Commenting(BaseModel):
    """A comment on an item."""

    key: Key
    who: Who
    item: Id
    text: Annotated[str, Field(max_length=10_000)]


class Withdrawing(BaseModel):
    """A request to take back a comment, by its line of the log."""

    key: Key
    who: Who
    seq: Annotated[int, Field(ge=1, le=MAX_INTEGER)]


class Marking(BaseModel):
    """An item that a person wants to come back to, or not anymore."""

    key: Key
    who: Who
    item: Id
    on: bool


class Reasoning(BaseModel):
    """The reasons for a person's answer to an item, in place of those given before."""

    key: Key
    who: Who
    item: Id
    reasons: Annotated[list[ClassName], Field(max_length=100)]


class Selecting(BaseModel):
    """Items that a person selected, to be told what an answer to all of them would do: ids of the table, or places of the map."""

    who: Who
    items: Annotated[list[Id], Field(max_length=10_000)] = []
    places: Annotated[list[Annotated[int, Field(ge=0, le=MAX_INTEGER)]], Field(max_length=10_000)] = []
    edition: Annotated[str, Field(max_length=100)] | None = None


class Confirming(BaseModel):
    """Items to label in one step, with the given label, or as predicted where that is at least so likely."""

    key: Key
    who: Who
    items: Annotated[list[Id], Field(min_length=1, max_length=10_000)]
    label: Said | None = None
    at_least: Annotated[float, Field(ge=0, le=1)] = 0.0


class Adding(BaseModel):
    """A file with new items beside the project, by its name."""

    addition: Annotated[str, Field(min_length=1, max_length=1000)]


class Removing(BaseModel):
    """Items to delete for good."""

    items: Annotated[list[Id], Field(min_length=1, max_length=10_000)]


class Suggested(BaseModel):
    """What a source guesses for an item."""

    item: Id
    source: Annotated[str, Field(min_length=1, max_length=10_000)]
    label: ClassName
    score: Annotated[float, Field(ge=0, le=1)] | None = None
    prompt: Annotated[str, Field(max_length=100)] | None = None


class Suggesting(BaseModel):
    """Guesses to store; with ``last`` they count from now on, with those that were sent before."""

    guesses: Annotated[list[Suggested], Field(max_length=10_000)]
    last: bool = False


class Ruling(BaseModel):
    """A rule that suggests a class, as JSON; what it guesses was sent before."""

    key: Key
    who: Who
    name: ClassName
    value: Annotated[str, Field(max_length=10_000)]


class Computing(BaseModel):
    """What a command computes: its name, the name of the file that it writes, and options."""

    name: Annotated[str, Field(max_length=100)]
    output: Annotated[str, Field(max_length=1000, pattern=r"^[^/\\\x00]*$")]
    options: dict[Annotated[str, Field(max_length=100)], str | int | bool | None]


class Giving(BaseModel):
    """A role for a person and the password that goes with it; without a role, the person loses both."""

    key: Key
    who: Who
    name: Name
    role: Literal["labeler", "lead"] | None = None
    password: Annotated[str, Field(max_length=1000)] | None = None


class TakingBack(BaseModel):
    """A request to take back all answers of a person since a time, or to give back what the last such step took."""

    key: Key
    who: Who
    person: Name
    since: Annotated[str, Field(max_length=100)] = ""


class Changing(BaseModel):
    """A change of a class."""

    key: Key
    who: Who
    kind: Literal["add", "rename", "merge", "describe", "key", "order", "reasons", "find", "certify", "second"]
    name: Annotated[str, Field(max_length=1000)] | None = None
    value: Annotated[str, Field(max_length=100_000)] | None = None
    like: Annotated[str, Field(max_length=10_000)] | None = None


class UndoingChange(BaseModel):
    """A request to take back a change of classes: the one with this number, or the last one of the person."""

    key: Key
    who: Who
    seq: Annotated[int, Field(ge=1, le=MAX_INTEGER)] | None = None


class Guiding(BaseModel):
    """A new version of the guidelines; ``read`` is the one that the writer has read, and nothing is saved if it is not the last."""

    key: Key
    who: Who
    text: Annotated[str, Field(max_length=100_000)]
    read: Annotated[int, Field(ge=0, le=MAX_INTEGER)] | None = None


class Grouping(BaseModel):
    """A request for a group of items that look alike."""

    who: Who


class ConfirmingGroup(BaseModel):
    """Items of a group that get its label in one step, and those that were taken out of it."""

    key: Key
    who: Who
    label: Said
    items: Annotated[list[Id], Field(max_length=1000)]
    odd: Annotated[list[Id], Field(max_length=1000)] = []
    seconds: Annotated[float, Field(ge=0, le=86_400)] | None = None


class ConfirmingPlaces(BaseModel):
    """Items of the map to label in one step, by their places."""

    key: Key
    who: Who
    edition: Annotated[str, Field(max_length=100)]
    places: Annotated[list[Annotated[int, Field(ge=0, le=MAX_INTEGER)]], Field(min_length=1, max_length=10_000)]
    label: Said | None = None
    at_least: Annotated[float, Field(ge=0, le=1)] = 0.0


class Aiming(BaseModel):
    """The expected error to aim at, in its unit: of classes, the share of wrong predictions."""

    key: Key
    who: Who
    target: StrictFloat


class Listing(BaseModel):
    """The search, filters, order and page of the table; ``like`` are words that items are to be like, the most alike first."""

    search: Annotated[str, Field(max_length=200)] = ""
    like: Annotated[str, Field(max_length=1000)] = ""
    label: Annotated[str, Field(max_length=1000)] = ""
    status: Literal["", "labeled", "predicted", "later", "cannot", "invalid", "open", "unseen"] = ""
    noted: Literal["", "comment", "return"] = ""
    sort: Literal["id", "title", "label", "probability", "status"] = "id"
    order: Literal["asc", "desc"] = "asc"
    offset: Annotated[int, Field(ge=0, le=MAX_INTEGER)] = 0
    limit: Annotated[int, Field(ge=1, le=1000)] = 100
    inside: Annotated[str, Field(max_length=4000, pattern=POLYGON)] = ""
