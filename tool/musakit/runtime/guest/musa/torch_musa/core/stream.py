"""Streams and events: everything has happened as soon as it is asked for."""


class Event:
    """A point in a stream."""

    def __init__(self, *_args: object, **_options: object) -> None:
        pass

    def record(self, stream: object = None) -> None:
        """The point is now."""

    def wait(self, stream: object = None) -> None:
        """Everything before it is done."""

    def synchronize(self) -> None:
        """Everything before it is done."""

    def query(self) -> bool:
        """Whether everything before it is done."""
        return True

    def elapsed_time(self, other: object) -> float:
        """Milliseconds between two points."""
        return 0.0


class Stream:
    """A queue of work, always empty."""

    def __init__(self, device: object = None, priority: int = 0, **_options: object) -> None:
        self.device = device
        self.priority = priority
        self.musa_stream = 0

    def synchronize(self) -> None:
        """Everything is done."""

    def wait_stream(self, stream: object) -> None:
        """Everything there is done."""

    def wait_event(self, event: Event) -> None:
        """Everything before it is done."""

    def record_event(self, event: object = None) -> Event:
        """A point now."""
        return event or Event()

    def query(self) -> bool:
        """Whether everything is done."""
        return True


class ExternalStream(Stream):
    """A stream that something else made."""


_DEFAULT = Stream()
_state = {"current": _DEFAULT}


def current_stream(device: object = None) -> Stream:
    """The stream in use."""
    return _state["current"]


def default_stream(device: object = None) -> Stream:
    """The stream that is used unless another is set."""
    return _DEFAULT


def set_stream(stream: object) -> None:
    """Use a stream."""
    _state["current"] = stream or _DEFAULT


class StreamContext:
    """Uses a stream for a while."""

    def __init__(self, stream: object) -> None:
        self.stream = stream

    def __enter__(self) -> None:
        self.before = current_stream()
        set_stream(self.stream)

    def __exit__(self, *_error: object) -> None:
        set_stream(self.before)
