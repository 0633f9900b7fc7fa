"""All words of the report, in English and German: each language has the same keys, and the same names in braces."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date
from typing import NamedTuple

ENGLISH = {
    "kicker": "Report on labels",
    "about": "{kind} · made on {day} with askgraph {version}",
    "kind classes": "An answer is one class",
    "kind ordered": "An answer is a step of a scale",
    "kind several": "An answer is any number of classes",
    "kind numbers": "An answer is a number",
    "in unit": "{kind}, in {unit}",
    "gist items": "items",
    "gist labels": "labeled",
    "gist people": "people",
    "gist classes": "predicted right, at least {bound}",
    "gist several": "expected F1, at least {bound}",
    "gist ordered": "steps off, at most {bound}",
    "gist numbers": "off, at most {bound}",
    "gist early": "quality: too early to say",
    "commands": "Beside each figure stands the command that gives it, in the folder of the project.",
    "what": "What was labeled",
    "items": "Items",
    "labels": "Items with a label that was given",
    "share": "{n} ({share})",
    "imported": "of these, the label came with the data",
    "aside": "Set aside",
    "later": "{n} put off until later",
    "cannot": "{n} nobody could tell",
    "invalid": "{n} not valid",
    "numbers": "Least, median, largest number given",
    "three": "{least} · {median} · {largest}",
    "chosen": "How items were chosen",
    "chosen so": "by the sampler {sampler}, seed {seed}",
    "joined": "What joins the items",
    "sought": "Search for all of “{text}”",
    "sought so": "{found} found, about {left} left ({low} to {high})",
    "sought first": "asked for first; never all found",
    "who": "Who answered",
    "person": "Person",
    "answers": "Answers",
    "single": "One by one",
    "many": "Many at once",
    "copies": "Exact copies",
    "checks": "Spot checks",
    "first": "First day",
    "last": "Last day",
    "others": "{n} others",
    "all": "All",
    "nobody": "Nobody has answered yet.",
    "bulk": "Answers given many at once",
    "map": "Selected on the map",
    "table": "Selected in the table",
    "group": "Groups that look alike",
    "in a step": "{n} answers in one step",
    "in steps": "{n} answers in {steps} steps",
    "together": "Labels that were only ever given so",
    "guidelines": "Guidelines",
    "no guidelines": "There were no written guidelines.",
    "version": "Version",
    "no version": "none yet",
    "saved": "Saved",
    "by": "By",
    "under": "Answers under it",
    "text": "Text of version {n}",
    "rest": "The text goes on: {n} characters in all.",
    "quality": "Quality",
    "error classes": "Expected share of wrong predictions",
    "error several": "Expected error, 1 − F1",
    "error ordered": "Expected error, in steps",
    "error numbers": "Expected error, root of the mean square",
    "range": "{value} ({low} to {high})",
    "by model": "{range}, from the model",
    "measured": "{range}, measured on {n} random items",
    "range means": "The range holds the true error nine times out of ten; that of agreement, 19 times out of 20.",
    "early": "too early to say",
    "drawn": "Spot checks: items drawn at random",
    "right": "predicted right by all other answers",
    "before": "predicted right before the answer",
    "off": "their predictions had been off by",
    "of": "{n} of {all}",
    "none": "none",
    "agreement": "Agreement of people: Krippendorff’s alpha",
    "alpha": "{range}, on {n} items",
    "no value": "no value: all labels are the same",
    "no overlap": "no item was labeled by two people",
    "decided": "Items on which they differ, decided by lead {who}",
    "alike": "Pairs of labels that agree",
    "apart ordered": "Two labels are apart by, on average",
    "apart numbers": "Half of the pairs differ by at most",
    "second": "Second reading, the first answer unseen",
    "read twice": "{n} items read, {left} to be read ({share} of the answered ones)",
    "same": "the same answer as the first",
    "second alpha": "Krippendorff’s alpha of these pairs",
    "reasons": "reasons given for labels",
    "commented": "Items with comments",
    "classes": "By class",
    "steps": "By step",
    "class": "Class",
    "step": "Step",
    "given": "Given",
    "predicted": "Predicted",
    "f1": "F1",
    "right of": "Spot checks right",
    "class alpha": "Alpha",
    "more classes": "{n} more classes: askgraph status",
    "classes mean": "F1: expected of the predictions, by the model’s probabilities. Spot checks: of those in the class, how many "
    "are predicted so. Alpha: on the items that two people labeled.",
    "unseen": "What was not seen",
    "left": "Items that nobody has answered",
    "unseen together": "Labels only given together with others",
    "unseen imported": "Labels that came with the data",
    "unseen classes": "Classes never given",
    "unseen steps": "Steps never given",
    "alone": "Items that nothing is like (empty text, no links)",
    "outdated": "Answers under an earlier version of the guidelines, or none",
    "contents": "Contents of the project",
    "lines": "Lines of the log",
    "lines so": "{n}, of these {undone} taken back; {changes} changes of classes and guidelines",
    "sha256": "sha256 of the items’ ids and of the log",
    "signed": "Signed",
    "I saw": "I have read this report and stand by what it says.",
    "name": "Name",
    "date": "Place and date",
    "signature": "Signature",
    "day": "{day} {month} {year}",
    "months": "Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec",
    "steps unit": "{n} steps",
    "file": "The report is {path}",
}
GERMAN = {
    "kicker": "Bericht über die Zuordnung",
    "about": "{kind} · erstellt am {day} mit askgraph {version}",
    "kind classes": "Eine Antwort ist eine Klasse",
    "kind ordered": "Eine Antwort ist eine Stufe einer Skala",
    "kind several": "Eine Antwort sind beliebig viele Klassen",
    "kind numbers": "Eine Antwort ist eine Zahl",
    "in unit": "{kind}, in {unit}",
    "gist items": "Einträge",
    "gist labels": "zugeordnet",
    "gist people": "Personen",
    "gist classes": "richtig vermutet, mindestens {bound}",
    "gist several": "erwartetes F1, mindestens {bound}",
    "gist ordered": "Stufen daneben, höchstens {bound}",
    "gist numbers": "daneben, höchstens {bound}",
    "gist early": "Güte: noch zu früh",
    "commands": "Neben jeder Zahl steht der Befehl, der sie ergibt, im Ordner des Projekts.",
    "what": "Was zugeordnet wurde",
    "items": "Einträge",
    "labels": "Einträge mit gegebener Zuordnung",
    "share": "{n} ({share})",
    "imported": "davon mit den Daten gekommen",
    "aside": "Beiseitegelegt",
    "later": "{n} für später",
    "cannot": "{n} nicht zu entscheiden",
    "invalid": "{n} nicht gültig",
    "numbers": "Kleinste, mittlere (Median), größte gegebene Zahl",
    "three": "{least} · {median} · {largest}",
    "chosen": "Wie Einträge ausgewählt wurden",
    "chosen so": "nach der Regel {sampler}, Startwert {seed}",
    "joined": "Was die Einträge verbindet",
    "sought": "Suche nach allen von „{text}“",
    "sought so": "{found} gefunden, etwa {left} übrig ({low} bis {high})",
    "sought first": "zuerst gefragt; nie alle gefunden",
    "who": "Wer geantwortet hat",
    "person": "Person",
    "answers": "Antworten",
    "single": "Einzeln",
    "many": "Viele auf einmal",
    "copies": "Genaue Kopien",
    "checks": "Stichproben",
    "first": "Erster Tag",
    "last": "Letzter Tag",
    "others": "{n} weitere",
    "all": "Alle",
    "nobody": "Noch hat niemand geantwortet.",
    "bulk": "Auf einmal gegebene Antworten",
    "map": "Auf der Karte ausgewählt",
    "table": "In der Tabelle ausgewählt",
    "group": "Gruppen, die sich ähneln",
    "in a step": "{n} Antworten in einem Schritt",
    "in steps": "{n} Antworten in {steps} Schritten",
    "together": "Nur so gegebene Zuordnungen",
    "guidelines": "Richtlinien",
    "no guidelines": "Es gab keine geschriebenen Richtlinien.",
    "version": "Fassung",
    "no version": "noch keine",
    "saved": "Gespeichert",
    "by": "Von",
    "under": "Antworten danach",
    "text": "Text der Fassung {n}",
    "rest": "Der Text geht weiter: insgesamt {n} Zeichen.",
    "quality": "Güte",
    "error classes": "Erwarteter Anteil falscher Vermutungen",
    "error several": "Erwarteter Fehler, 1 − F1",
    "error ordered": "Erwarteter Fehler, in Stufen",
    "error numbers": "Erwarteter Fehler, Wurzel des mittleren Quadrats",
    "range": "{value} ({low} bis {high})",
    "by model": "{range}, nach dem Modell",
    "measured": "{range}, gemessen an {n} zufälligen Einträgen",
    "range means": "Der Bereich enthält den wahren Fehler in neun von zehn Fällen, der der Einigkeit in 19 von 20.",
    "early": "noch zu früh",
    "drawn": "Stichproben: zufällig gezogene Einträge",
    "right": "nach allen anderen Antworten richtig vermutet",
    "before": "vor der Antwort richtig vermutet",
    "off": "so weit lagen ihre Vermutungen daneben",
    "of": "{n} von {all}",
    "none": "keine",
    "agreement": "Einigkeit der Personen: Krippendorffs Alpha",
    "alpha": "{range}, bei {n} Einträgen",
    "no value": "ohne Wert: Alle Antworten sind gleich",
    "no overlap": "kein Eintrag hat Antworten von zwei Personen",
    "decided": "Uneinige Einträge, entschieden von der Leitung: {who}",
    "alike": "Paare von Antworten, die übereinstimmen",
    "apart ordered": "So weit liegen zwei Antworten im Mittel auseinander",
    "apart numbers": "Die Hälfte der Paare unterscheidet sich höchstens um",
    "second": "Zweite Lesung, ohne die erste Antwort zu sehen",
    "read twice": "{n} Einträge gelesen, {left} noch zu lesen ({share} der beantworteten)",
    "same": "dieselbe Antwort wie die erste",
    "second alpha": "Krippendorffs Alpha dieser Paare",
    "reasons": "Gründe, die für Zuordnungen genannt sind",
    "commented": "Einträge mit Kommentaren",
    "classes": "Nach Klassen",
    "steps": "Nach Stufen",
    "class": "Klasse",
    "step": "Stufe",
    "given": "Gegeben",
    "predicted": "Vermutet",
    "f1": "F1",
    "right of": "Stichproben richtig",
    "class alpha": "Alpha",
    "more classes": "{n} weitere Klassen: askgraph status",
    "classes mean": "F1: das der Vermutungen, nach den Wahrscheinlichkeiten des Modells. Stichproben: wie viele von denen "
    "der Klasse so vermutet werden. Alpha: bei den Einträgen, die zwei Personen zugeordnet haben.",
    "unseen": "Was nicht gesehen wurde",
    "left": "Einträge, zu denen niemand geantwortet hat",
    "unseen together": "Nur mit anderen zusammen gegebene Zuordnungen",
    "unseen imported": "Mit den Daten gekommene Zuordnungen",
    "unseen classes": "Nie gegebene Klassen",
    "unseen steps": "Nie gegebene Stufen",
    "alone": "Einträge, denen nichts ähnelt (leerer Text, keine Verbindung)",
    "outdated": "Antworten nach einer früheren Fassung der Richtlinien oder ohne",
    "contents": "Inhalt des Projekts",
    "lines": "Zeilen des Protokolls",
    "lines so": "{n}, davon {undone} zurückgenommen; {changes} Änderungen an Klassen und Richtlinien",
    "sha256": "sha256 der Namen der Einträge und des Protokolls",
    "signed": "Unterschrift",
    "I saw": "Ich habe diesen Bericht gelesen und stehe zu dem, was er sagt.",
    "name": "Name",
    "date": "Ort und Datum",
    "signature": "Unterschrift",
    "day": "{day}. {month} {year}",
    "months": "Jan. Feb. März Apr. Mai Juni Juli Aug. Sept. Okt. Nov. Dez.",
    "steps unit": "{n} Stufen",
    "file": "Der Bericht ist {path}",
}
EARLIEST_DAY = "0001-01-01"  # a log of an earlier version, or of tests, may have no time


class Language(NamedTuple):
    """A language: its code, its words, and the marks between thousands and before decimals."""

    code: str
    words: dict[str, str]
    marks: Mapping[int, str | int]

    def say(self, key: str, **values: object) -> str:
        """Return words with values in them, numbers as this language writes them."""
        return self.words[key].format(
            **{name: self.number(one) if isinstance(one, int | float) else one for name, one in values.items()}
        )

    def number(self, value: float, digits: int | None = None) -> str:
        """Return a number, to some significant digits.

        >>> LANGUAGES["de"].number(12345), LANGUAGES["en"].number(0.12345, 3)
        ('12.345', '0.123')
        """
        rounded = value if digits is None else float(f"{value:.{digits}g}")
        return f"{rounded:,.12g}".translate(self.marks)

    def percent(self, share: float) -> str:
        r"""Return a share in percent.

        >>> LANGUAGES["de"].percent(0.0593), LANGUAGES["en"].percent(1.0)
        ('5,9\xa0%', '100\xa0%')
        """
        return f"{100 * share:.1f}".removesuffix(".0").translate(self.marks) + "\u00a0%"

    def day(self, at: str) -> str:
        """Return the day of a time.

        >>> LANGUAGES["en"].day("2026-11-19T10:00:00.000Z"), LANGUAGES["de"].day("2026-03-01")
        ('19 Nov 2026', '1. März 2026')
        """
        found = date.fromisoformat(at[:10] or EARLIEST_DAY)
        return self.words["day"].format(
            day=found.day, month=self.words["months"].split()[found.month - 1], year=found.year
        )


LANGUAGES = {
    "en": Language("en", ENGLISH, {}),
    "de": Language("de", GERMAN, str.maketrans(",.", ".,")),
}
