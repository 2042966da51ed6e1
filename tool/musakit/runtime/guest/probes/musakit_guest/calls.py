"""Whether the runner's call of `dummy_run` binds to every proposer that vLLM can create."""

import ast
import importlib
import importlib.util
import inspect
import textwrap

PROPOSERS = {
    "EagleProposer": "vllm.v1.spec_decode.eagle",
    "DraftModelProposer": "vllm.v1.spec_decode.draft_model",
    "DFlashProposer": "vllm.v1.spec_decode.dflash",
    "ExtractHiddenStatesProposer": "vllm.v1.spec_decode.extract_hidden_states",
    "Gemma4Proposer": "vllm.v1.spec_decode.gemma4",  # from 0.22 on
}
CALLEE = "self.drafter.dummy_run"


def ask(case: dict, answer: dict) -> None:
    """The call as it is written in the runner, and each proposer's parameters as Python sees them.

    Args:
        case: nothing.
        answer: `keywords` of the call, the proposers that it `binds` to, the parameters that `dummy_run` had
            `before` in all of them, and the mode that FULL becomes for other drafters (`others`).
    """
    from vllm.v1.worker.gpu_model_runner import GPUModelRunner

    call = runner_call(GPUModelRunner)
    keywords = [keyword.arg for keyword in call.keywords]
    answer["keywords"] = keywords
    answer["binds"], before = [], []
    for name, module in PROPOSERS.items():
        if importlib.util.find_spec(module) is None:
            continue
        method = getattr(importlib.import_module(module), name).dummy_run
        signature = inspect.signature(method)
        try:
            signature.bind(None, *call.args, **dict.fromkeys(keywords))
        except TypeError as error:
            answer.setdefault("refuses", []).append(f"{name}: {error}")
        else:
            answer["binds"].append(name)
        before.append(list(signature.parameters)[1:5])
    answer["before"] = before[0] if all(names == before[0] for names in before) else before
    answer["others"] = mode_of_others()


def runner_call(runner: type) -> ast.Call:
    """The one call in the runner's `_dummy_run`."""
    source = textwrap.dedent(inspect.getsource(runner._dummy_run))
    calls = [
        node
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.Call) and ast.unparse(node.func) == CALLEE
    ]
    if len(calls) != 1:
        raise RuntimeError(f"`{CALLEE}` is called {len(calls)} times in the runner's _dummy_run")
    return calls[0]


def mode_of_others() -> str:
    """What a drafter that is not DFlash makes of FULL: it has no FULL graphs of its own."""
    from types import SimpleNamespace

    from vllm.config import CUDAGraphMode
    from vllm.v1.cudagraph_dispatcher import CudagraphDispatcher
    from vllm.v1.spec_decode.eagle import EagleProposer

    from musakit_guest.configuration import engine_config

    config = engine_config({})
    drafter = SimpleNamespace(
        speculative_config=config.speculative_config,
        cudagraph_dispatcher=CudagraphDispatcher(config),
        use_full_cudagraphs=getattr(EagleProposer, "use_full_cudagraphs", False),
    )
    EagleProposer.initialize_cudagraph_keys(drafter, CUDAGraphMode.FULL)
    return drafter.cudagraph_dispatcher.cudagraph_mode.name
