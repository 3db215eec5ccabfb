import Foundation
import SyncCore
import SyncTestSupport
import SystemPackage

@testable import SyncPhotos

/// A program in the place of the decoder: each picture tells it in JSON what to do with it. It may do what no decoder of
/// ours does.
struct ScriptedWorker {
    let tree: TemporaryTree
    let program: FilePath

    init() throws {
        tree = try TemporaryTree()
        program = try tree.writeProgram(Self.script, to: "worker")
    }

    /// A good reply: a gray picture of 4 × 2 pixels. A row of a test changes it.
    static func reply(_ changes: [String: Any] = [:]) -> PictureSource {
        let good: [String: Any] = [
            "width": 4, "height": 2, "orientation": 1, "colour": 1, "horizontal": 1, "vertical": 1, "memory": 8,
            "samples_bytes": 8,
        ]
        return told(good.merging(changes) { $1 })
    }

    static func told(_ order: [String: Any]) -> PictureSource {
        let data = try? JSONSerialization.data(withJSONObject: order)
        return .bytes(Array(data ?? Data()))
    }

    private static let script = """
        #!/usr/bin/python3
        import array, json, os, signal, socket, struct, sys

        NUMBERS = ("width", "height", "orientation", "colour", "horizontal", "vertical", "samples_offset", "samples_bytes",
                   "icc_offset", "icc_bytes", "exif_offset", "exif_bytes", "dropped", "pictures", "picture_end")
        channel = socket.socket(fileno=0)
        while True:
            request, files, _, _ = socket.recv_fds(channel, 64, 2)
            if not request:
                sys.exit(0)
            _, _, pixels, memory, size = struct.unpack("<IIqqq", request)
            order = json.loads(os.pread(files[0], size, 0))
            if "signal" in order:
                os.kill(os.getpid(), order["signal"])
            if "exit" in order:
                sys.exit(order["exit"])
            while "hang" in order:
                if order["hang"] == "busily":
                    continue
                signal.pause()
            if "raw" in order:
                channel.send(b"x" * order["raw"])
                continue
            status, message = order.get("status", 0), order.get("message", "")
            if order.get("tells") == "process":
                status, message = 3, str(os.getpid())
            if order.get("tells") == "surroundings":
                mine = set(os.listdir("/proc/self/fd")) - {str(file) for file in files}
                # The last one is that of the listing.
                status, message = 3, f"{len(mine) - 1} descriptors, {len(open('/proc/self/environ').read())} bytes, leads {os.getpgrp() == os.getpid()}"
            if order.get("needs", 0) > memory:
                status, message = 4, "more"
            os.ftruncate(files[1], order.get("memory", 0))
            for offset, text in order.get("write", []):
                os.pwrite(files[1], bytes.fromhex(text), offset)
            channel.send(struct.pack("<Ii240siiiIiiQQQQQQIIQ", status, 0, message.encode(),
                                     *(order.get(name, 0) for name in NUMBERS)))
            for file in files:
                os.close(file)
            if order.get("leaves"):
                sys.exit(0)

        """
}
