"""`python -m musakit_guest QUESTIONS ANSWERS`: one answer a line, each written as soon as it is known."""

import contextlib
import importlib
import json
import logging
import os
import sys
import time
import traceback
from collections.abc import Iterator
from pathlib import Path

LONGEST_TEXT = 2000
MOST_MESSAGES = 40


def main() -> None:
    """Answer all questions, in order."""
    questions = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
    with Path(sys.argv[2]).open("a", encoding="utf-8") as answers:

        def write(**record: object) -> None:
            answers.write(json.dumps(record) + "\n")
            answers.flush()

        start(write)
        for entry in questions:
            write(entry=entry["id"], state="begin")
            for index, case in enumerate(entry["cases"]):
                write(entry=entry["id"], state="case", case=index)
                write(entry=entry["id"], state="answer", case=index, **answer(entry, case))
            write(entry=entry["id"], state="end")


def start(write: object) -> None:
    """Load torch, and vLLM with its platform, and say what was loaded."""
    began = time.monotonic()
    import torch

    with contextlib.suppress(Exception):  # each entry runs into it again, and shows it
        from vllm.platforms import current_platform

        str(current_platform)
    write(state="start", seconds=time.monotonic() - began, torch=torch.__version__)


def answer(entry: dict, case: dict) -> dict:
    """What a case gives: answers, and the error if there is one; what was logged, and how long it took."""
    began = time.monotonic()
    record: dict = {"answer": {}, "error": None, "log": []}
    try:
        with messages(record["log"]), environment(entry["environment"]), mate(case):
            probe = importlib.import_module(f"musakit_guest.{entry['kind']}")
            probe.ask(case, record["answer"])
    except Exception as error:
        record["error"] = describe(error)
    return {**record, "log": record["log"][:MOST_MESSAGES], "seconds": time.monotonic() - began}


def describe(error: Exception) -> dict:
    """An exception as plain values; frames from the outermost to the one that raised."""
    frames = [
        (frame.filename, frame.lineno, frame.name)
        for frame in traceback.extract_tb(error.__traceback__)
    ]
    return {"type": type(error).__name__, "text": str(error)[:LONGEST_TEXT], "frames": frames}


class _Collector(logging.Handler):
    def __init__(self, texts: list) -> None:
        super().__init__(logging.WARNING)
        self.texts = texts

    def emit(self, record: logging.LogRecord) -> None:
        self.texts.append(record.getMessage())


@contextlib.contextmanager
def messages(texts: list) -> Iterator[None]:
    """Collect warnings, also those that vLLM would only log the first time."""
    from vllm import logger

    for name in ("_print_debug_once", "_print_info_once", "_print_warning_once"):
        getattr(logger, name).cache_clear()
    collector = _Collector(texts)
    log = logging.getLogger("vllm")
    log.addHandler(collector)
    try:
        yield
    finally:
        log.removeHandler(collector)


@contextlib.contextmanager
def environment(values: dict) -> Iterator[None]:
    """Set environment variables for a while."""
    before = {name: os.environ.get(name) for name in values}
    os.environ.update(values)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


@contextlib.contextmanager
def mate(case: dict) -> Iterator[None]:
    """Let `flash_attn_interface` be missing for a while if the case says so."""
    name = "flash_attn_interface"
    if case.get("mate", True):
        yield
        return
    before = sys.modules.get(name)
    sys.modules[name] = None  # makes every import of it fail
    try:
        yield
    finally:
        del sys.modules[name]
        if before is not None:
            sys.modules[name] = before


if __name__ == "__main__":
    main()
