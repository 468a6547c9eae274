# SPDX-FileCopyrightText: 2026 The Hone Authors
# SPDX-License-Identifier: Apache-2.0
"""Talks to `hone mcp` by the official client of the Model Context Protocol.

    python mcp_client.py HONE FOLDER

Runs with both generations of the client: 1.x opens a session, 2.x has none. The client's own types check every answer, and
the tools' output schemas the structured ones. Works in FOLDER. Ends with status 0, or with a traceback.
"""
import asyncio
import importlib.metadata
import json
import os
import sys
import time

from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client

GENERATION = int(importlib.metadata.version("mcp").split(".")[0])


def field(result, one, two):
    """Returns a field of a result, which version 1 of the client calls `one` (the protocol's name) and version 2 `two`."""
    return getattr(result, two if hasattr(result, two) else one)


async def from_tasks_to_a_judged_kernel(call, names):
    assert {"tasks", "task", "eval"} <= set(names), names
    listed = await call("tasks", {})
    assert "relu" in [task["name"] for task in listed["tasks"]]
    task = await call("task", {"name": "relu"})
    assert "[[launch]]" in task["candidate_guide"]
    wrong = await call("eval", {"task": "relu", "source": "__global__ void f() {}"})
    assert wrong["verdict"] == "parse_error" and wrong["detail"], wrong
    progress_messages = []

    async def progress(done, total, message):
        progress_messages.append((done, message))

    judged = await call("eval", {"task": "relu", "source": task["seed"], "time": False}, progress)
    assert judged["verdict"] == "ok", judged
    assert progress_messages and all(a[0] < b[0] for a, b in zip(progress_messages, progress_messages[1:])), progress_messages
    return judged["address"]


async def with_sessions(parameters):
    async with stdio_client(parameters) as (read, write):
        async with ClientSession(read, write) as session:
            opened = await session.initialize()
            assert field(opened, "protocolVersion", "protocol_version") == "2025-11-25", opened
            await session.send_ping()
            tools = (await session.list_tools()).tools

            async def call(name, arguments, progress=None):
                result = await session.call_tool(name, arguments, progress_callback=progress)
                assert not field(result, "isError", "is_error"), result
                return field(result, "structuredContent", "structured_content")

            address = await from_tasks_to_a_judged_kernel(call, [tool.name for tool in tools])
            resources = (await session.list_resources()).resources
            assert len(resources) > 10
            read_back = (await session.read_resource(address)).contents[0].text
            assert json.loads(read_back)["verdict"] == "ok"
            result = await session.call_tool("task", {"name": "rellu"})
            assert field(result, "isError", "is_error") and "did you mean" in result.content[0].text


async def without_sessions(parameters):
    from mcp import Client

    async with Client(stdio_client(parameters)) as client:
        assert client.protocol_version == "2026-07-28", client.protocol_version
        tools = (await client.list_tools()).tools

        async def call(name, arguments, progress=None):
            result = await client.call_tool(name, arguments, progress_callback=progress)
            assert not result.is_error, result
            return result.structured_content

        address = await from_tasks_to_a_judged_kernel(call, [tool.name for tool in tools])
        read_back = (await client.read_resource(address)).contents[0].text
        assert json.loads(read_back)["verdict"] == "ok"


async def main(hone, folder):
    environment = dict(os.environ, HONE_STATE=os.path.join(folder, "state"))
    parameters = StdioServerParameters(command=hone, args=["mcp", "--root", folder, "--device", "sim"], env=environment)
    started = time.monotonic()
    await with_sessions(parameters)
    eras = "sessions"
    if GENERATION >= 2:
        await without_sessions(parameters)
        eras += ", and without"
    print(f"mcp {importlib.metadata.version('mcp')}: with {eras}, {time.monotonic() - started:.1f} s")


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
