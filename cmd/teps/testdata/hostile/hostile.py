#!/usr/bin/python3
"""The example in Python, made to misbehave as --set ENGINE.fault=CALL-MODE says, or the variable TEPS_HOSTILE in Describe,
which has no options. For tests only."""

import contextlib
import glob
import os
import signal
import subprocess
import sys
import threading
import time

import engine_pb2 as pb
import teps_engine

here = os.path.dirname(os.path.abspath(__file__))
with open(os.path.join(here, "teps-engine-mine")) as f:
    exec(f.read().replace("serve(Engine())", ""))

fault = os.environ.get("TEPS_HOSTILE", "")


def act(call):
    """Does what can go wrong in any call."""
    if fault == call + "-crash":
        signal.raise_signal(signal.SIGSEGV)
    if fault == call + "-exit":
        os._exit(0)
    if fault == call + "-panic":
        raise ValueError("boom")
    while fault == call + "-hang":
        time.sleep(1000)
    if fault == call + "-flood":
        for i in range(20000):
            print("%060d" % i)
    if fault == call + "-fork":
        subprocess.Popen(["sleep", "600"], start_new_session=True)


class Hostile(Engine):
    def describe(self):
        act("describe")
        d = super().describe()
        d.name = "hostile"
        d.options.add(name="fault", kind="text", default="none", meaning="what goes wrong")
        if fault == "describe-lie":
            d.memory.per_vertex = -1
        if fault == "describe-name":
            d.summary = "x" * (1 << 20)
        return d

    def construct(self, tuples, options, canceled):
        global fault
        fault = options.get("fault", "")
        act("construct")
        if fault == "construct-write":
            tuples.flags.writeable = True
            tuples["low_u"][3] = 7
        if fault == "construct-replace":  # writes to every segment that the host has open
            for path in glob.glob("/proc/%d/fd/*" % os.getppid()):
                with contextlib.suppress(OSError):
                    if os.readlink(path).startswith("/memfd:teps-"):
                        os.pwrite(os.open(path, os.O_RDWR), bytes(4096), 0)
        c = super().construct(tuples, {}, canceled)
        if fault == "construct-lie":
            c.elapsed_ns = 3600 * 10**9
        return c

    def search(self, root, parent, canceled):
        act("search")
        if fault == "search-write":
            parent[len(parent)] = 1
        t = super().search(root, parent, canceled)
        if fault == "search-late":
            def scribble():
                while True:
                    parent[0] = -77
                    time.sleep(1e-4)
            threading.Thread(target=scribble, daemon=True).start()
            while parent[0] != -77:  # it goes on after the call
                time.sleep(1e-5)
        if fault == "search-tree":
            for v in range(len(parent)):
                p = parent[v]
                if p >= 0 and p != root and parent[p] != root:
                    parent[p] = v
                    break
        if fault == "search-lie":
            t.elapsed_ns = 3600 * 10**9
        if fault == "search-fast":
            time.sleep(1.3)
            t.elapsed_ns = 1000
        if fault == "search-levels":
            t.levels.extend([pb.Level(direction=0, frontier=1)] * 50000)
        return t


class Service(teps_engine.Service):
    def repeat(self, request, context):
        act("repeat")
        time.sleep(request.duration_ns / 1e9)
        return pb.RepeatReply(searches=-5 if fault == "repeat-lie" else 1000)

    def close(self, request, context):
        act("close")
        return super().close(request, context)


teps_engine.Service = Service
serve(Hostile())
