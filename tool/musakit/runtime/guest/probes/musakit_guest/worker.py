"""The real worker's `init_device`, up to the first distributed call."""

import tempfile
from pathlib import Path

from musakit_guest.configuration import engine_config

OPTIONS = {
    "load_format": "dummy",
    "block_size": 16,
    "max_num_batched_tokens": 2048,
    "limit_mm_per_prompt": {"image": 0, "video": 0, "audio": 0},  # there is no image processor
}


class Reached(Exception):
    """The first distributed call."""


def ask(case: dict, answer: dict) -> None:
    """Initialise the device as a server does, and stop where other processes would be met.

    Args:
        case: what `engine_config` takes.
        answer: `device_type`, `device`.
    """
    from vllm.v1.worker import gpu_worker

    worker = make_worker(case)
    answer["device_type"] = worker.device_config.device_type

    def reached(*_args: object, **_options: object) -> None:
        raise Reached

    real = gpu_worker.init_worker_distributed_environment
    gpu_worker.init_worker_distributed_environment = reached
    try:
        worker.init_device()
    except Reached:
        answer["device"] = str(worker.device)
    finally:
        gpu_worker.init_worker_distributed_environment = real


def make_worker(case: dict) -> object:
    """The real worker of a group of one."""
    from vllm.v1.worker.gpu_worker import Worker

    options = {**OPTIONS, **case.get("options", {})}
    config = engine_config({**case, "max_model_len": 2048, "options": options})
    place = Path(tempfile.mkdtemp(prefix="group-")) / "store"
    method = f"file://{place}"
    return Worker(
        config, local_rank=0, rank=0, distributed_init_method=method, is_driver_worker=True
    )
