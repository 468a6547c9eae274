# SPDX-FileCopyrightText: 2026 The Hone Authors
# SPDX-License-Identifier: Apache-2.0
"""Sends and receives frames of JSON over a stream socket, as src/base/process/frames.h does. """
import json
import os
import select
import struct
import time


class Late(Exception):
    """The other side did not answer in time."""


class Gone(Exception):
    """The other side has closed its end."""


class Frames:
    """One end of a socket. The peer may run a stranger's code: a frame's size is bounded, and its contents are not trusted."""

    MOST_BYTES = 64 << 20

    def __init__(self, descriptor):
        self.descriptor = descriptor
        self.peer = None    # the same end as a socket, by which descriptors can be received
        self.received = []  # descriptors that came with the last frame, if receive() was told to take some; its caller closes them

    def _take(self, count, most):
        """Returns at most `count` bytes, and keeps the descriptors that come with them, `most` at most."""
        import socket
        if self.peer is None:
            self.peer = socket.socket(fileno=os.dup(self.descriptor))
        try:
            part, self.received, _, _ = socket.recv_fds(self.peer, count, most)
        except ConnectionError:
            part = b""
        if not part:
            raise Gone()
        return part

    def _read(self, count, deadline):
        """Returns exactly `count` bytes. `deadline`: on time.monotonic(); None: no limit."""
        parts = []
        while count > 0:
            if deadline is not None and not select.select([self.descriptor], [], [], max(0.0, deadline - time.monotonic()))[0]:
                raise Late()
            try:
                part = os.read(self.descriptor, min(count, 1 << 20))
            except ConnectionError:
                part = b""
            if not part:
                raise Gone()
            parts.append(part)
            count -= len(part)
        return b"".join(parts)

    def receive(self, seconds=None, descriptors=0):
        """Returns the next frame's JSON. Raises Late after `seconds` (None: never), Gone if the peer has closed its end, ValueError
        for bytes that are not a frame. `descriptors`: at most so many may come with it, into `received`; `seconds` must be None then."""
        deadline = None if seconds is None else time.monotonic() + seconds
        head = self._take(16, descriptors) if descriptors else b""
        magic, size, blobs, came = struct.unpack("<4sIII", head + self._read(16 - len(head), deadline))
        if magic != b"HNF1" or blobs != 0 or came > descriptors or size > self.MOST_BYTES:
            raise ValueError("what came is no frame")
        return json.loads(self._read(size, deadline))

    def send(self, message):
        """Sends a frame with this JSON. Raises Gone if the peer has closed its end."""
        header = json.dumps(message).encode()
        data = struct.pack("<4sIII", b"HNF1", len(header), 0, 0) + header
        while data:
            try:
                data = data[os.write(self.descriptor, data):]
            except ConnectionError as error:
                raise Gone() from error
