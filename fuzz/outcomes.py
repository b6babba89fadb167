"""An engine's outcome as a message, and back. A message that is not an outcome is garbage, and says so."""

from __future__ import annotations

from typing import get_args

from fuzz.wire import Garbage, Message
from oracles.engine import Failure, Observation, Outcome, Stage, Symptom

STAGES: tuple[Stage, ...] = get_args(Stage)
SYMPTOMS: tuple[str, ...] = get_args(Symptom)


def message_of(variant: str, outcome: Outcome) -> Message:
    """The message that carries one variant's outcome. A result that is a let travels once, and arrives as one array."""
    if isinstance(outcome, Failure):
        words = {"stage": outcome.stage, "symptom": outcome.symptom, "culprit": outcome.culprit}
        return Message("failure", {"variant": variant, **words, "message": outcome.message})
    arrays = {f"let {name}": array for name, array in outcome.lets.items()}
    names = {id(array): name for name, array in arrays.items()}
    places: list[str] = []
    for place, array in enumerate(outcome.results):
        places.append(names.get(id(array), f"result {place}"))
        arrays[places[-1]] = array
    return Message("observation", {"variant": variant, "results": places}, arrays)


def outcome_of(message: Message) -> tuple[str, Outcome]:
    """(variant, outcome). Raises `Garbage`."""
    fields = message.fields
    words = [fields.get(key, "") for key in ("variant", "stage", "symptom", "culprit", "message")]
    if not all(isinstance(word, str) for word in words):
        raise Garbage(f"not an outcome: {fields}")
    variant, stage, symptom, culprit, text = words
    if message.kind == "failure" and stage in STAGES and symptom in SYMPTOMS:
        return variant, Failure(stage, symptom, culprit, text)
    places = fields.get("results")
    if message.kind != "observation" or not isinstance(places, list):
        raise Garbage(f"not an outcome: {message.kind} {fields}")
    if not all(isinstance(place, str) and place in message.arrays for place in places):
        raise Garbage(f"not the names of arrays: {places}")
    lets = {name.removeprefix("let "): array for name, array in message.arrays.items() if name.startswith("let ")}
    return variant, Observation(lets, tuple(message.arrays[place] for place in places))
