#!/usr/bin/env python3
"""A line to a server that is far away: what comes is handed on late, and no faster than the line is.

    Benchmarks/Agent/line.py PORT RTT RATE

It is before a port of this machine; a round trip is in seconds, the rate in bytes a second. It prints its port, ends
with its standard input, and tells how many connections there were.

Each connection costs a round trip before its first byte, as the handshake of TCP does, and has a window that begins
with ten segments (RFC 6928) and grows by what arrived, as in slow start. The line is one for all connections, each way.
Nothing is lost on it.
"""

import asyncio
import os
import subprocess
import sys
import threading

FIRST_WINDOW = 14_600
# Bytes: what Linux lets a connection have under way by default (tcp_wmem, the last number).
LARGEST_WINDOW = 4 << 20


class Way:
    """One direction of the line, for all connections."""

    def __init__(self, delay, rate):
        self.delay, self.rate, self.free = delay, rate, 0.0

    def arrival(self, now, size):
        """When what is sent now is at the other end."""
        self.free = max(now, self.free) + size / self.rate
        return self.free + self.delay


async def carry(reader, writer, way, opened):
    """The bytes of one direction of one connection, until its end."""
    loop = asyncio.get_running_loop()
    state = {"under way": 0, "window": FIRST_WINDOW}
    room = asyncio.Event()

    def acknowledge(size):
        state["under way"] -= size
        state["window"] = min(state["window"] + size, LARGEST_WINDOW)
        room.set()

    def arrive(piece):
        if not writer.is_closing():
            writer.write(piece)
        loop.call_later(way.delay, acknowledge, len(piece))

    last = loop.time()
    try:
        while piece := await reader.read(min(state["window"] - state["under way"], 16 << 10)):
            state["under way"] += len(piece)
            last = way.arrival(max(loop.time(), opened), len(piece))
            loop.call_at(last, arrive, piece)
            while state["under way"] >= state["window"]:
                room.clear()
                await room.wait()
    except ConnectionError:
        pass
    await asyncio.sleep(max(last - loop.time(), 0) + way.delay)
    try:
        if writer.can_write_eof():
            writer.write_eof()
    except OSError:
        pass


async def serve(port, rtt, rate):
    there, back = Way(rtt / 2, rate), Way(rtt / 2, rate)
    count = 0

    async def connected(reader, writer):
        nonlocal count
        count += 1
        opened = asyncio.get_running_loop().time() + rtt
        far_reader, far_writer = await asyncio.open_connection("127.0.0.1", port)
        await asyncio.gather(carry(reader, far_writer, there, opened), carry(far_reader, writer, back, opened))
        far_writer.close()
        writer.close()

    server = await asyncio.start_server(connected, "127.0.0.1", 0)
    print(server.sockets[0].getsockname()[1], flush=True)
    ended = asyncio.Event()
    loop = asyncio.get_running_loop()
    threading.Thread(target=lambda: (sys.stdin.read(), loop.call_soon_threadsafe(ended.set)), daemon=True).start()
    await ended.wait()
    print(count, flush=True)
    # What is open still has nobody to wait for.
    os._exit(0)


class LineProcess:
    """The line before a port, in a process of its own."""

    def __init__(self, port, rtt, rate):
        self.process = subprocess.Popen([sys.executable, __file__, str(port), str(rtt), str(rate)],
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.port = int(self.process.stdout.readline())

    def close(self):
        """How many connections there were."""
        return int(self.process.communicate(timeout=10)[0])


if __name__ == "__main__":
    asyncio.run(serve(int(sys.argv[1]), float(sys.argv[2]), float(sys.argv[3])))
