"""Speaks to package servers with the user's settings, and never shows a credential."""

from __future__ import annotations

import contextlib
import importlib
import logging
import re
import time
from typing import TYPE_CHECKING, Any, TypeVar

from musakit.errors import ConfigError, NetworkError
from musakit.process import redacted

if TYPE_CHECKING:
    import ssl
    from collections.abc import Callable, Iterator

    from unearth.fetchers import PyPIClient

    from musakit.upstream.settings import IndexSettings

Result = TypeVar("Result")

_FIRST_PAUSE = 0.25  # seconds; pip's too


@contextlib.contextmanager
def opened(settings: IndexSettings) -> Iterator[PyPIClient]:
    """A client for the user's servers: credentials of urls, netrc and keyring, proxies, certificates."""
    from unearth.auth import MultiDomainBasicAuth
    from unearth.fetchers import PyPIClient

    # The libraries log what they skip; what matters of it comes back as an error of ours.
    for name in ("unearth", "httpx", "httpx2"):
        logging.getLogger(name).addHandler(logging.NullHandler())
    places = [*settings.index_urls, *settings.find_links]
    verification = _verification(settings)
    failing: tuple[type[Exception], ...] = (OSError, ValueError, *transport_errors())
    try:
        client = PyPIClient(
            trusted_hosts=settings.trusted_hosts,
            verify=verification,
            cert=settings.client_cert,
            timeout=settings.timeout,
            proxy=settings.proxy,
            mounts=_proxied(settings),
            follow_redirects=True,
            auth=MultiDomainBasicAuth(prompting=False, index_urls=places),
        )
    except failing as error:
        raise ConfigError(
            "pip's settings, or the proxies that the environment names, make no connection: "
            + explain(error)
        ) from error
    with client:
        yield client


def _proxied(settings: IndexSettings) -> dict[str, Any]:
    """The proxy for trusted hosts too, which the client would speak to directly."""
    if settings.proxy is None:
        return {}
    transport = _library().HTTPTransport(verify=False, proxy=settings.proxy)
    return {f"all://{host}": transport for host in settings.trusted_hosts}


def _verification(settings: IndexSettings) -> ssl.SSLContext | bool:
    if settings.cert is None:
        return True
    import ssl
    from pathlib import Path

    try:
        if Path(settings.cert).is_dir():
            return ssl.create_default_context(capath=settings.cert)
        return ssl.create_default_context(cafile=settings.cert)
    except OSError as error:
        raise NetworkError(
            f"pip's setting `cert` names `{settings.cert}`, which cannot be read: {error}"
        ) from error


def _library() -> Any:
    """The HTTP library that this unearth is built on: httpx or its successor."""
    from unearth.fetchers import PyPIClient

    return importlib.import_module(PyPIClient.__bases__[0].__module__.partition(".")[0])


def transport_errors() -> tuple[type[Exception], ...]:
    """What a request raises that fails on the way."""
    library = _library()
    return (library.TransportError, library.TooManyRedirects, library.InvalidURL)


def retried(action: Callable[[], Result], retries: int) -> Result:
    """What an action returns, tried again when the request fails on the way."""
    for attempt in range(retries):
        with contextlib.suppress(*transport_errors()):
            return action()
        time.sleep(_FIRST_PAUSE * 2**attempt)
    return action()


def explain(error: Exception) -> str:
    """Why a request failed, in a few words."""
    text = redacted(str(error)).strip()
    for pattern, reason in _REASONS:
        if re.search(pattern, f"{type(error).__name__} {text}", re.IGNORECASE):
            return reason
    return text[:1].lower() + text[1:] or type(error).__name__


_REASONS = (
    (
        r"name or service not known|name resolution|getaddrinfo|nodename",
        "its name cannot be resolved",
    ),
    (r"connection refused", "the connection was refused"),
    (r"network is unreachable|no route to host", "the network is unreachable"),
    (r"timed? ?out", "it did not answer in time"),
    (r"certificate verify failed", "its certificate cannot be verified"),
    (
        r"without sending complete|incompleteread|disconnected|reset by peer",
        "it closed the connection early",
    ),
)
