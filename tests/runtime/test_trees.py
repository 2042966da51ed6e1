"""Trees on disk that should be as they were."""

from __future__ import annotations

from typing import TYPE_CHECKING

from musakit.runtime.trees import changed_files

if TYPE_CHECKING:
    from musakit.git.store import Store


def test_untouched(store: Store, tiny: dict[str, str]) -> None:
    with store.export(tiny["vllm"]) as folder:
        assert changed_files(folder, store.entries(tiny["vllm"])) == ()


def test_changed_added_and_removed(store: Store, tiny: dict[str, str]) -> None:
    with store.export(tiny["vllm"]) as folder:
        (folder / "torch.py").write_text("other")
        (folder / "vllm" / "__init__.py").unlink()
        (folder / "new").symlink_to("torch.py")
        changed = changed_files(folder, store.entries(tiny["vllm"]))
    assert changed == ("new", "torch.py", "vllm/__init__.py")
