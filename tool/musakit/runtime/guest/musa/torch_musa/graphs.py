"""A graph that does not compute: the code runs when it is captured, and a replay does nothing."""

allowed = True  # whether a graph may be captured now; a server captures at start-up only
_state = {"capturing": False, "pools": 0}


def graph_pool_handle() -> tuple:
    """A new pool of graph memory."""
    _state["pools"] += 1
    return 0, _state["pools"]


def is_current_stream_capturing() -> bool:
    """Whether code is being captured."""
    return _state["capturing"]


class MUSAGraph:
    """A graph."""

    def __new__(cls, *_args: object, **_options: object) -> "MUSAGraph":
        """As torch's own class, it takes options at construction."""
        return object.__new__(cls)

    def __init__(self, *_args: object, **_options: object) -> None:
        self.captured = False

    def capture_begin(self, *_args: object, **_options: object) -> None:
        """From here on the code is part of the graph."""
        if not allowed:
            raise RuntimeError("stand-in: a graph is captured after start-up")
        _state["capturing"] = True

    def capture_end(self) -> None:
        """The graph is complete."""
        _state["capturing"] = False
        self.captured = True

    def replay(self) -> None:
        """Run it again."""
        if not self.captured:
            raise RuntimeError("stand-in: a graph is replayed that was not captured")

    def reset(self) -> None:
        """Forget what was captured."""
        self.captured = False

    def pool(self) -> tuple:
        """The pool that its memory is from."""
        return 0, 0


class graph:  # noqa: N801 - torch's name
    """Captures what runs inside of it."""

    def __init__(
        self, musa_graph: MUSAGraph, pool: object = None, stream: object = None, **_options: object
    ) -> None:
        self.musa_graph = musa_graph

    def __enter__(self) -> "graph":
        self.musa_graph.capture_begin()
        return self

    def __exit__(self, *_error: object) -> bool:
        self.musa_graph.capture_end()
        return False


CUDAGraph = MUSAGraph
