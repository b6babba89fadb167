"""An engine's outcome as a message, and back. A message that is not an outcome is garbage, and says so."""

from __future__ import annotations

from typing import get_args

from fuzz.wire import Garbage, Message
from oracles.engine import Failure, Observation, Outcome, Stage, Symptom

STAGES: tuple[Stage, ...] = get_args(Stage)
SYMPTOMS: tuple[str, ...] = get_args(Symptom)


def message_of(variant: str, outcome: Outcome) -> Message:
    """The message that carries one variant's outcome."""
    if isinstance(outcome, Failure):
        words = {"stage": outcome.stage, "symptom": outcome.symptom, "culprit": outcome.culprit}
        return Message("failure", {"variant": variant, **words, "message": outcome.message})
    lets = {f"let {name}": array for name, array in outcome.lets.items()}
    results = {f"result {place}": array for place, array in enumerate(outcome.results)}
    return Message("observation", {"variant": variant}, lets | results)


def outcome_of(message: Message) -> tuple[str, Outcome]:
    """(variant, outcome). Raises `Garbage`."""
    fields = message.fields
    words = [fields.get(key, "") for key in ("variant", "stage", "symptom", "culprit", "message")]
    if not all(isinstance(word, str) for word in words):
        raise Garbage(f"not an outcome: {fields}")
    variant, stage, symptom, culprit, text = words
    if message.kind == "failure" and stage in STAGES and symptom in SYMPTOMS:
        return variant, Failure(stage, symptom, culprit, text)
    if message.kind != "observation":
        raise Garbage(f"not an outcome: {message.kind} {fields}")
    named = [(*name.partition(" ")[::2], array) for name, array in message.arrays.items()]
    lets = {name: array for kind, name, array in named if kind == "let"}
    return variant, Observation(lets, tuple(array for kind, _, array in named if kind == "result"))
