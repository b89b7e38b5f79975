# SPDX-License-Identifier: Apache-2.0

"""The part of an engine that is the same in every engine: handshake, calls, shared memory and errors. It implements
docs/engine-protocol.md of teps.

An engine in Python is an object with the methods
    describe() -> engine_pb2.Description
    construct(tuples, options, canceled) -> engine_pb2.Construction     kernel 1
    search(root, parent, canceled) -> engine_pb2.Traversal              kernel 2
    shortest_paths(root, parent, distance, canceled) -> Traversal        optional: kernel 3
    vertices() -> int                                                    optional: length of the parent array of a search
and serve(engine) runs it. An engine with vertices can repeat searches by itself, which teps uses to measure energy.

tuples is a read-only array of dtype TUPLE. parent is an array of int64 and distance of float32, and a search must write
all of them. With shortest_paths, construct has a fourth argument: the weights of the tuples, a read-only array of
float32, or None if kernel 3 is not called. canceled()
reports whether teps has given up; what a method returns then is ignored. Both kernels measure their own time. To report an
error, raise Fail(kind, text).

Needs numpy, grpcio and protobuf (Debian: python3-numpy python3-grpcio python3-protobuf), openssl for the certificate,
and engine_pb2, which `protoc --python_out=. engine.proto` makes.
"""

import base64
import concurrent.futures
import mmap
import os
import subprocess
import sys
import tempfile
import threading
import time

import grpc
import numpy as np

import engine_pb2 as pb

TUPLE = np.dtype([("low_u", "<u4"), ("low_v", "<u4"), ("high", "<u4")])
PARENT = np.dtype(np.int64)
FLOAT = np.dtype(np.float32)  # of weights and distances
COOKIE = ("TEPS_ENGINE_COOKIE", "b6a9a0c1-graph500-breadth-first-search")


class Fail(Exception):
    """An error of the engine. kind is a number of engine_pb2.Failure.Kind."""

    def __init__(self, kind, text):
        super().__init__(text)
        self.kind = kind


def ends(tuples):
    """Both labels of each tuple, as arrays of int64."""
    high = tuples["high"].astype(np.int64)
    return tuples["low_u"] | (high & 0xFFFF) << 32, tuples["low_v"] | (high >> 16) << 32


class Segments:
    """The pieces of the host's memory that are mapped here. Results stay mapped until a call names others."""

    def __init__(self):
        self.results = {}  # of each type of elements: the ID of the segment, and its memory

    def attach(self, wire, dtype, writable=True):
        """Returns the elements that a Segment names, as an array."""
        if not wire.path:
            return np.empty(0, dtype)  # there is no segment
        known, memory = self.results.get(dtype, (0, None))
        if not writable or known != wire.id:
            memory = self.open(wire.path, wire.total * dtype.itemsize, writable)
            if writable:
                self.results[dtype] = wire.id, memory  # the old ones are unmapped when no array uses them any more
        return np.frombuffer(memory, dtype, wire.count, wire.first * dtype.itemsize)

    @staticmethod
    def open(path, size, writable):
        try:
            fd = os.open(path, os.O_RDWR if writable else os.O_RDONLY)
            try:
                if os.fstat(fd).st_size != size:
                    raise Fail(pb.Failure.KIND_SEGMENT, "%s does not have %d bytes" % (path, size))
                return mmap.mmap(fd, size, access=mmap.ACCESS_WRITE if writable else mmap.ACCESS_READ)
            finally:
                os.close(fd)
        except OSError as e:
            raise Fail(pb.Failure.KIND_SEGMENT, "map %s: %s" % (path, e))


class Service:
    """The calls of engine.proto. teps makes one at a time, besides cancel."""

    def __init__(self, engine):
        self.engine = engine
        self.segments = Segments()
        self.closed = False
        self.canceled = 0  # the highest ID that was canceled: a cancellation can arrive before its call

    def run(self, context, call_id, work):
        """Makes one call, work(canceled), and reports errors in the host's form."""

        def canceled():
            return self.canceled >= call_id

        try:
            if self.closed:
                raise Fail(pb.Failure.KIND_CLOSED, "the engine is closed")
            answer = None if canceled() else work(canceled)
            if canceled():
                raise Fail(pb.Failure.KIND_CANCELED, "canceled")
            return answer
        except Fail as e:
            failure = e
        except MemoryError as e:
            failure = Fail(pb.Failure.KIND_MEMORY, str(e) or "out of memory")
        return refuse(context, failure.kind, str(failure))

    def describe(self, request, context):
        return self.run(context, request.call_id, lambda _: self.engine.describe())

    def construct(self, request, context):
        def work(canceled):
            given = [self.segments.attach(request.tuples, TUPLE, writable=False), dict(request.options), canceled]
            if hasattr(self.engine, "shortest_paths"):
                weights = self.segments.attach(request.weights, FLOAT, writable=False) if request.shortest_paths else None
                if weights is not None and len(weights) != len(given[0]):
                    raise Fail(pb.Failure.KIND_TUPLES, "%d weights of %d tuples" % (len(weights), len(given[0])))
                given.append(weights)
            return self.engine.construct(*given)

        return self.run(context, request.call_id, work)

    def searcher(self, request):
        """The kernel that a request asks for, with its arrays: kernel 3 if there are distances."""
        parent = self.segments.attach(request.parent, PARENT)
        if not request.HasField("distance"):
            return lambda root, canceled: self.engine.search(root, parent, canceled)
        distance = self.segments.attach(request.distance, FLOAT)
        return lambda root, canceled: self.engine.shortest_paths(root, parent, distance, canceled)

    def search(self, request, context):
        return self.run(context, request.call_id, lambda canceled: self.searcher(request)(request.root, canceled))

    def repeat(self, request, context):
        def work(canceled):
            vertices, roots = self.engine.vertices(), request.roots
            if not roots or request.duration_ns <= 0:
                raise Fail(0, "%d roots for %d ns: want at least one root and a positive time" % (len(roots), request.duration_ns))
            for root in roots:
                if not 0 <= root < vertices:
                    raise Fail(pb.Failure.KIND_ROOT, "root %d of %d" % (root, vertices))
            search, searches = self.searcher(request), 0
            end = time.monotonic_ns() + request.duration_ns
            while time.monotonic_ns() < end and not canceled():
                search(roots[searches % len(roots)], canceled)
                searches += 1
            return pb.RepeatReply(searches=searches)

        return self.run(context, request.call_id, work)

    def close(self, request, context):
        self.closed = True
        return pb.CloseReply()

    def cancel(self, request, context):
        self.canceled = max(self.canceled, request.call_id)
        return pb.CancelReply()


def refuse(context, kind, text):
    """Ends a call with a status whose detail, a google.rpc.Status with a Failure, tells the host which error it is."""

    def field(number, data):
        size, length = len(data), b""
        while size > 127:
            length, size = length + bytes([size & 127 | 128]), size >> 7
        return bytes([number << 3 | 2]) + length + bytes([size]) + data

    failure = pb.Failure(kinds=[kind] if kind else [])
    detail = field(1, b"type.googleapis.com/" + failure.DESCRIPTOR.full_name.encode()) + field(2, failure.SerializeToString())
    code = grpc.StatusCode.UNKNOWN
    status = bytes([1 << 3, code.value[0]]) + field(2, text.encode()) + field(3, detail)
    context.set_trailing_metadata((("grpc-status-details-bin", status),))
    context.abort(code, text)


def handlers(service, leave):
    """The gRPC services of an engine: its own and two of go-plugin."""

    def call(name, request):
        method = getattr(service, name)
        return grpc.unary_unary_rpc_method_handler(method, request.FromString, lambda reply: reply.SerializeToString())

    def bare(answer):  # for messages of go-plugin, as bytes
        return grpc.unary_unary_rpc_method_handler(answer)

    calls = {
        "Describe": call("describe", pb.DescribeRequest), "Construct": call("construct", pb.ConstructRequest),
        "Search": call("search", pb.SearchRequest), "Close": call("close", pb.CloseRequest),
        "Cancel": call("cancel", pb.CancelRequest),
    }
    if hasattr(service.engine, "vertices"):
        calls["Repeat"] = call("repeat", pb.RepeatRequest)
    return (
        grpc.method_handlers_generic_handler("teps.engine.v1.Engine", calls),
        grpc.method_handlers_generic_handler("grpc.health.v1.Health", {"Check": bare(lambda *_: b"\x08\x01")}),  # SERVING
        grpc.method_handlers_generic_handler("plugin.GRPCController", {"Shutdown": bare(lambda *_: leave() or b"")}),
    )


def certificate(directory):
    """Makes a certificate and its key for this one connection, in PEM."""
    paths = [os.path.join(directory, "certificate.pem"), os.path.join(directory, "key.pem")]
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "1",
         "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost", "-out", paths[0], "-keyout", paths[1]],
        check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    contents = []
    for path in paths:
        with open(path, "rb") as f:
            contents.append(f.read())
    return contents


def serve(engine):
    """Connects the engine with the host that has started this process, and returns when the host has finished."""
    if os.environ.get(COOKIE[0]) != COOKIE[1]:
        print("%s: this is an engine of teps, which does not run by itself; name it to teps run" % sys.argv[0], file=sys.stderr)
        sys.exit(2)
    done = threading.Event()
    with tempfile.TemporaryDirectory() as directory:
        pem, key = certificate(directory)
    credentials = grpc.ssl_server_credentials([(key, pem)], os.environ["PLUGIN_CLIENT_CERT"].encode(), require_client_auth=True)
    server = grpc.server(concurrent.futures.ThreadPoolExecutor(max_workers=4))
    server.add_generic_rpc_handlers(handlers(Service(engine), done.set))
    socket = os.path.join(os.environ["PLUGIN_UNIX_SOCKET_DIR"], "engine")
    server.add_secure_port("unix:" + socket, credentials)
    server.start()
    der = base64.b64decode(b"".join(pem.splitlines()[1:-1]))
    print("1|1|unix|%s|grpc|%s" % (socket, base64.b64encode(der).decode().rstrip("=")), flush=True)
    sys.stdout = sys.stderr  # what is printed from now on goes to the host's log
    done.wait()
    server.stop(grace=1).wait()
