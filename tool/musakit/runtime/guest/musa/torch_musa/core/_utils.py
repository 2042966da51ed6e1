"""Device indices."""


def _get_musa_device_index(
    device: object = None, optional: bool = False, allow_cpu: bool = False
) -> int:
    """Index of a device: there is one."""
    return 0
