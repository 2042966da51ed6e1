"""Archives: what is read from good ones, and that hostile and broken ones are refused."""

from __future__ import annotations

import bz2
import contextlib
import gzip
import io
import lzma
import stat
import tarfile
import zipfile
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from musakit.errors import IntegrityError
from musakit.upstream import archive
from musakit.upstream.content import EXECUTABLE, LINK, PLAIN, File
from musakit.upstream.meter import Limits
from tests.upstream.conftest import FILES, GENERATED, tar_of

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

PACKERS: dict[str, Callable[[bytes], bytes]] = {
    "tar.gz": gzip.compress,
    "tar.bz2": bz2.compress,
    "tar.xz": lzma.compress,
    "tar": bytes,
}
EXPECTED = [
    File(path, EXECUTABLE if path.endswith(".sh") else PLAIN, data) for path, data in FILES.items()
]


class Tar:
    """A tar archive that is built member by member, however strange."""

    def __init__(self) -> None:
        self._out = io.BytesIO()
        self._tar = tarfile.TarFile(fileobj=self._out, mode="w", format=tarfile.PAX_FORMAT)

    def add(
        self, name: str, content: bytes = b"", kind: bytes = tarfile.REGTYPE, **more: object
    ) -> Tar:
        member = tarfile.TarInfo(name)
        member.type = kind
        member.size = len(content)
        for key, value in more.items():
            setattr(member, key, value)
        self._tar.addfile(member, io.BytesIO(content))
        return self

    def link(self, name: str, target: str) -> Tar:
        return self.add(name, kind=tarfile.SYMTYPE, linkname=target)

    def hard_link(self, name: str, target: str) -> Tar:
        return self.add(name, kind=tarfile.LNKTYPE, linkname=target)

    def bytes(self) -> bytes:
        self._tar.close()
        return self._out.getvalue()


def write(tmp_path: Path, data: bytes | Tar, name: str = "demo-1.0.tar.gz") -> Path:
    path = tmp_path / name
    path.write_bytes(gzip.compress(data.bytes()) if isinstance(data, Tar) else data)
    return path


def reason(path: Path, limits: Limits | None = None) -> str:
    with pytest.raises(IntegrityError) as caught:
        list(archive.read(path, limits=limits))
    assert caught.value.message.startswith(f"`{path.name}`")
    return caught.value.message.removeprefix(f"`{path.name}`").removeprefix(": ").strip()


@pytest.mark.parametrize("kind", PACKERS)
def test_reads_every_compression(tmp_path: Path, kind: str) -> None:
    path = write(tmp_path, PACKERS[kind](tar_of({**FILES, **GENERATED})))
    assert list(archive.read(path)) == EXPECTED


def test_reads_zip(tmp_path: Path) -> None:
    path = tmp_path / "demo-1.0.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as packed:
        packed.mkdir("demo-1.0") if hasattr(packed, "mkdir") else packed.writestr("demo-1.0/", "")
        for file in EXPECTED:
            info = zipfile.ZipInfo(f"demo-1.0/{file.path}")
            info.create_system = 3
            info.external_attr = int(file.mode, 8) << 16
            packed.writestr(info, file.content)
        link = zipfile.ZipInfo("demo-1.0/link")
        link.external_attr = (stat.S_IFLNK | 0o777) << 16
        packed.writestr(link, "run.sh")
    assert list(archive.read(path)) == [*EXPECTED, File("link", LINK, b"run.sh")]


def test_links_and_long_and_undecodable_names(tmp_path: Path) -> None:
    deep = "/".join(["folder"] * 40)
    tar = Tar().add("./demo-1.0/", kind=tarfile.DIRTYPE).add("./demo-1.0/a", b"A", mode=0o755)
    tar.link("./demo-1.0/l", "a").hard_link("./demo-1.0/h", "./demo-1.0/a")
    tar.hard_link("./demo-1.0/i", "./demo-1.0/h").add(f"./demo-1.0/{deep}", b"deep")
    tar.add("./demo-1.0/\udcff", b"raw")
    assert list(archive.read(write(tmp_path, tar))) == [
        File("a", EXECUTABLE, b"A"),
        File("l", LINK, b"a"),
        File(deep, PLAIN, b"deep"),
        File("\udcff", PLAIN, b"raw"),
        File("h", EXECUTABLE, b"A"),
        File("i", EXECUTABLE, b"A"),
    ]


TOP = "demo-1.0"
SPARSE = {"GNU.sparse.map": "0,1", "GNU.sparse.size": "1"}


def no_file(target: str) -> str:
    return f"`{TOP}/h` is a hard link to `{target}`, which is no file before it"


@pytest.mark.parametrize(
    ("tar", "text"),
    [
        (Tar().add("/etc/passwd"), "`/etc/passwd` is an absolute path"),
        (Tar().add("../evil"), "`../evil` has a component `..`"),
        (Tar().add(f"{TOP}/../../evil"), "`..` has a component `..`"),
        (Tar().add(f"{TOP}/a\\b"), "`a\\b` has a backslash or NUL in its name"),
        (Tar().add(f"{TOP}/a\0b", pax_headers={"path": f"{TOP}/a\0b"}), "`a\\x00b` has a backslash or NUL in its name"),
        (Tar().add(f"{TOP}/.git/hooks/post-checkout"), "`.git` is or lies in a folder `.git`"),
        (Tar().add(".git/config"), "`.git/config` is or lies in a folder `.git`"),
        (Tar().link(f"{TOP}/l", "/etc/passwd"), "`l` is a link out of the tree, to `/etc/passwd`"),
        (Tar().link(f"{TOP}/l", "../../x"), "`l` is a link out of the tree, to `../../x`"),
        (Tar().hard_link(f"{TOP}/h", "/etc/passwd"), no_file("/etc/passwd")),
        (Tar().link(f"{TOP}/l", "x").hard_link(f"{TOP}/h", f"{TOP}/l"), no_file(f"{TOP}/l")),
        (Tar().hard_link(f"{TOP}/h", f"{TOP}/h"), no_file(f"{TOP}/h")),
        (Tar().add(f"{TOP}/a").hard_link(f"{TOP}/a", f"{TOP}/a"), f"`{TOP}/a` is there twice"),
        (Tar().add(f"{TOP}/d", kind=tarfile.CHRTYPE), f"`{TOP}/d` is a character device"),
        (Tar().add(f"{TOP}/d", kind=tarfile.BLKTYPE), f"`{TOP}/d` is a block device"),
        (Tar().add(f"{TOP}/d", kind=tarfile.FIFOTYPE), f"`{TOP}/d` is a fifo"),
        (Tar().add(f"{TOP}/d", kind=tarfile.CONTTYPE, pax_headers=SPARSE), f"`{TOP}/d` is a sparse file"),
        (Tar().add(f"{TOP}/a").add(f"{TOP}/A"), "`A` differs from `a` only in case or encoding"),
        (Tar().add(f"{TOP}/a").add(f"{TOP}/a"), "`a` is there twice"),
        (Tar().add(f"{TOP}/a").add(f"{TOP}/a/b"), "`a` is a file and a folder"),
        (Tar().add(f"{TOP}/a/", kind=tarfile.DIRTYPE).add(f"{TOP}/a"), "`a` is a file and a folder"),
        (Tar().add(f"{TOP}/a").add("other/b"), f"`other/b` is not in the one top folder `{TOP}`"),
        (Tar().add("loose"), "`loose` is not in the one top folder `loose`"),
        (Tar().link(TOP, "elsewhere"), f"`{TOP}` is not in the one top folder `{TOP}`"),
        (Tar(), "is empty"),
    ],
)  # fmt: skip
def test_refuses_hostile_members(tmp_path: Path, tar: Tar, text: str) -> None:
    assert reason(write(tmp_path, tar)) == text


@pytest.mark.parametrize(
    ("attributes", "text"),
    [
        ({"external_attr": (stat.S_IFLNK | 0o777) << 16}, "`a` is a link out of the tree, to `/etc/x`"),
        ({"external_attr": (stat.S_IFIFO | 0o777) << 16}, f"`{TOP}/a` is a device, a fifo or a socket"),
        ({"orig_filename": "/etc/passwd", "filename": "/etc/passwd"}, "`/etc/passwd` is an absolute path"),
        ({"filename": f"{TOP}/../../x"}, "`..` has a component `..`"),
    ],
)  # fmt: skip
def test_refuses_hostile_zip_members(
    tmp_path: Path, attributes: dict[str, object], text: str
) -> None:
    path = tmp_path / "demo-1.0.zip"
    info = zipfile.ZipInfo(f"{TOP}/a")
    info.create_system = 3
    for key, value in attributes.items():
        setattr(info, key, value)
    with zipfile.ZipFile(path, "w") as packed:
        packed.writestr(info, "/etc/x")
    assert reason(path) == text


def test_refuses_encrypted_zip(tmp_path: Path) -> None:
    path = tmp_path / "demo-1.0.zip"
    with zipfile.ZipFile(path, "w") as packed:
        packed.writestr(f"{TOP}/a", "secret")
    data = bytearray(path.read_bytes())
    data[6] |= 1
    data[data.index(b"PK\x01\x02") + 8] |= 1
    path.write_bytes(data)
    assert reason(path) == f"`{TOP}/a` is encrypted"


@pytest.mark.parametrize(
    ("limits", "text"),
    [
        (Limits(members=3), "has more than 3 members"),
        (Limits(file=999), f"`{TOP}/0` unpacks to more than 999 bytes"),
        (Limits(total=4000), "unpacks to more than 4000 bytes"),
        (Limits(ratio=2, free=3000), "unpacks to more than 2 times its size"),
    ],
)
def test_refuses_bombs(tmp_path: Path, limits: Limits, text: str) -> None:
    tar = Tar()
    for number in range(9):
        tar.add(f"{TOP}/{number}", bytes(1000))
    assert reason(write(tmp_path, tar), limits) == text


def test_refuses_a_bomb_in_a_header(tmp_path: Path) -> None:
    tar = Tar().add(f"{TOP}/a", pax_headers={"comment": "x" * 5000})
    assert "has a header of" in reason(write(tmp_path, tar), Limits(file=4000))


def test_refuses_a_bomb_behind_the_end(tmp_path: Path) -> None:
    data = gzip.compress(Tar().add(f"{TOP}/a").bytes() + bytes(3 << 20))
    text = reason(write(tmp_path, data), Limits(total=2 << 20))
    assert text == f"unpacks to more than {2 << 20} bytes"


def test_refuses_a_zip_bomb(tmp_path: Path) -> None:
    path = tmp_path / "demo-1.0.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as packed:
        packed.writestr(f"{TOP}/a", bytes(1 << 20))
    assert reason(path, Limits(file=1 << 10)) == f"`{TOP}/a` unpacks to more than 1024 bytes"
    assert "times its size" in reason(path, Limits(free=0, ratio=10))


def test_refuses_every_truncation(tmp_path: Path, sdist_bytes: bytes) -> None:
    for end in (*range(0, len(sdist_bytes), 37), len(sdist_bytes) - 1):
        assert reason(write(tmp_path, sdist_bytes[:end]))


def test_refuses_every_truncation_of_a_plain_tar(tmp_path: Path) -> None:
    data = tar_of(FILES)
    used = len(data.rstrip(b"\0"))
    for end in range(0, used, 256):
        assert reason(write(tmp_path, data[:end]))


def test_refuses_a_broken_header_in_the_middle(tmp_path: Path) -> None:
    data = bytearray(tar_of(FILES))
    data[1024 : 1024 + 100] = b"x" * 100
    assert "no end mark" in reason(write(tmp_path, gzip.compress(data)))


@pytest.mark.parametrize("data", [b"", b"hello", b"PK\x03\x04", b"\x1f\x8b", b"BZh", bytes(10240)])
def test_refuses_what_is_no_archive(tmp_path: Path, data: bytes) -> None:
    assert reason(write(tmp_path, data))


@pytest.fixture(scope="module")
def sdist_bytes() -> bytes:
    return gzip.compress(tar_of({**FILES, **GENERATED}), mtime=0)


@settings(
    max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(data=st.data(), packed=st.sampled_from(["tar.gz", "tar", "zip"]))
def test_damage_is_refused_and_never_crashes(
    tmp_path: Path, data: st.DataObject, packed: str
) -> None:
    path = tmp_path / f"demo-1.0.{packed}"
    if packed == "zip":
        with zipfile.ZipFile(path, "w") as out:
            for name, content in FILES.items():
                out.writestr(f"{TOP}/{name}", content)
        raw = bytearray(path.read_bytes())
    else:
        raw = bytearray(PACKERS[packed](tar_of(FILES)))
    for _ in range(data.draw(st.integers(1, 4))):
        place = data.draw(st.integers(0, len(raw) - 1))
        raw[place] = data.draw(st.integers(0, 255))
    path.write_bytes(raw)
    with contextlib.suppress(IntegrityError):
        list(archive.read(path))


contents = st.dictionaries(
    st.text('abcXYZ_.-é \n"\udcff', min_size=1, max_size=6).filter(
        lambda name: name.strip(". ") == name and name.lower() == name
    ),
    st.binary(max_size=2000),
    min_size=1,
    max_size=6,
)


@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(files=contents)
def test_reading_gives_back_what_was_packed(tmp_path: Path, files: dict[str, bytes]) -> None:
    path = write(tmp_path, gzip.compress(tar_of(files)))
    assert list(archive.read(path)) == [File(name, PLAIN, data) for name, data in files.items()]
