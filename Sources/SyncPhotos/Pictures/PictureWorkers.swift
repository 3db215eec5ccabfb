import CSyncDecoder
import Glibc
import SyncCore
import SyncSystem
package import SystemPackage

/// Decodes pictures other than JPEG, each in a worker process of its own, which can reach neither network nor files
/// (`sync-agent-decoder`).
///
/// A worker serves many pictures, one at a time; there are at most as many as threads decode at once. One that does not
/// answer, dies or answers nonsense is ended, and costs the picture that it had; the next one gets a new worker. All that
/// comes from a worker is taken for a stranger's. One that has had no request for half a minute ends by itself.
package final class PictureWorkers: Sendable {
    /// How long a worker may keep a picture: as a step of pooled work (``StepWatch``), and ten times as long where it hardly
    /// uses the processor. One that does not use it at all has as long as the first.
    struct Patience {
        var wall: Duration = StepWatch.longestStep
        var processor: Duration = StepWatch.leastProcessorTime

        fileprivate func isOver(_ wall: Duration, processor: Duration) -> Bool {
            wall >= self.wall && processor >= self.processor || wall >= self.wall * 10
        }
    }

    /// Where there is no decoder.
    package static let none = PictureWorkers(programs: [])
    package static let programName = "sync-agent-decoder"
    /// Of the processor, by which a worker shows that it works.
    private static let sign = Duration.milliseconds(10)
    /// How soon a cancellation is seen.
    private static let interval = Duration.milliseconds(100)

    private struct State {
        var idle: [PictureWorker] = []
        var isClosed = false
    }

    private let programs: [FilePath]
    private let memory: DecodingBudget
    private let patience: Patience
    private let state = Lock(State())

    /// - Parameters:
    ///   - programs: the first of them that is there is run.
    ///   - patience: with a picture.
    ///   - memory: what pictures are decoded in.
    init(programs: [FilePath], patience: Patience = Patience(), memory: DecodingBudget = .ofProcess) {
        self.programs = programs
        self.patience = patience
        self.memory = memory
    }

    /// Those of an installation: beside the executable, or in its `../libexec/sync-agent`.
    package convenience init(besides executable: FilePath) {
        let folder = executable.containingFolder
        let libexec = folder.containingFolder.appending("libexec/sync-agent")
        self.init(programs: [folder, libexec].map { $0.appending(Self.programName) })
    }

    /// The program that is run; `nil` where it is not installed.
    package var program: FilePath? { programs.first { (try? FileStatus(at: $0))?.kind == .file } }

    /// Ends all workers, and waits for that. Twice is no error. Who decodes at this moment does so to the end.
    package func close() {
        state.withLock { state in
            state.isClosed = true
            state.idle = []
        }
    }

    /// Takes workers that have ended by themselves off the process table. Whoever decodes now and then need not ask for it.
    package func removeEnded() {
        let ended = state.withLock { state in
            let ended = state.idle.filter { $0.hasAnswered(within: .zero) }
            state.idle.removeAll { worker in ended.contains { $0 === worker } }
            return ended
        }
        for worker in ended { worker.end() }
    }

    // MARK: Decoding

    /// Hands out a decoded picture. Its memory is set aside until `body` has ended (``DecodingBudget``).
    /// - Throws: ``PhotoError``: the decoder's reason, `.tooSlow`, `.stopped`, `.corrupt` for a picture that ended its worker.
    func decoded<Value>(
        _ source: PictureSource, as format: PictureFormat, within limits: PhotoLimits,
        _ body: (DecodedPicture) throws(PhotoError) -> Value
    ) throws(PhotoError) -> Value {
        let photo = try PictureFile(source)
        // A large picture has all the memory, and waits until nobody else decodes.
        for room in [PictureRoom.usual(limits), PictureRoom.all(limits)] {
            let value = try memory.with(room.bytes) { () throws(PhotoError) -> Value? in
                guard let picture = try decode(photo, as: format, in: room) else { return nil }
                return try body(picture)
            }
            if let value { return value }
        }
        throw PhotoError(.overLimit, "over the limits")
    }

    /// - Returns: `nil` when it takes more room, and there is more.
    private func decode(
        _ photo: PictureFile, as format: PictureFormat, in room: PictureRoom
    ) throws(PhotoError) -> DecodedPicture? {
        defer { withExtendedLifetime(photo) {} }
        let samples = try PhotoError.givingMemory { () throws(Errno) in try MemoryFile(named: "samples") }
        let request = CSyncDecoder_Request(
            format: format.code.rawValue, reserved: 0, pixels: room.pixels, memory_bytes: room.memory,
            file_bytes: photo.size)
        return try ask(request, photo.descriptor, samples) { reply -> WorkerAnswer<DecodedPicture?> in
            let status = CSyncDecoder_Status(reply.status)
            if room.isMoreLeft, status == CSYNC_DECODER_OVER_LIMIT || status == CSYNC_DECODER_OUT_OF_MEMORY {
                return .content(nil)
            }
            return .picture(reply, in: samples, format: format, pixels: room.pixels)
        }
    }

    // MARK: Workers

    /// Lets a worker do one thing, and waits for it.
    /// - Parameters:
    ///   - isLast: whether the worker is ended then, and so can change nothing of what it has made.
    ///   - judge: what its reply comes to.
    /// - Throws: ``PhotoError``: the worker's reason, `.tooSlow`, `.stopped`, `.corrupt` for a file that ended its worker.
    func ask<Content>(
        _ request: CSyncDecoder_Request, _ file: FileDescriptor, _ memory: MemoryFile, isLast: Bool = false,
        _ judge: (CSyncDecoder_Reply) -> WorkerAnswer<Content>
    ) throws(PhotoError) -> Content {
        let worker = try worker(for: request, file, memory)
        let reply = try answer(of: worker)
        if isLast { worker.end() }
        switch judge(reply) {
        case .content(let content):
            giveBack(worker)
            return content
        case .failure(let error):
            giveBack(worker)
            throw error
        case .nonsense(let reason):
            worker.end()
            throw PhotoError.nonsense(reason)
        }
    }

    private func answer(of worker: PictureWorker) throws(PhotoError) -> CSyncDecoder_Reply {
        let (start, used) = (SuspendingClock.now, worker.processorTime)
        var (lastSign, lastTime) = (start, used)
        while !worker.hasAnswered(within: min(Self.interval, patience.wall)) {
            let (now, time) = (SuspendingClock.now, worker.processorTime)
            if time - lastTime >= Self.sign { (lastSign, lastTime) = (now, time) }
            let isOver = patience.isOver(now - start, processor: time - used)
            let isStill = now - lastSign >= patience.wall
            if isOver || isStill || PooledWork.isCancelled { worker.end() }
            try PhotoError.checkStopped()
            if isOver { throw .tooSlow }
            // On the busiest machine it gets some time of the processor. Whoever stopped it, the picture did not.
            if isStill { throw PhotoError(.outOfResources, "its decoder did nothing for a minute, and was ended") }
        }
        do throws(Errno) {
            return try worker.receive()
        } catch {
            guard error == .brokenPipe else {
                worker.end()
                throw PhotoError.nonsense("no reply")
            }
            switch worker.ending() {
            case .signalled(SIGKILL):
                throw PhotoError(.outOfResources, "its decoder was killed; the machine may be out of memory")
            case .signalled(let signal):
                throw PhotoError(
                    .corrupt, "its decoder died of it (signal \(signal)); the picture's data may be damaged")
            case .exited(let code):
                // No picture makes ours do so: it is another program, or lacks a library.
                throw PhotoError(
                    .outOfResources,
                    "its decoder ended by itself (exit code \(code)); see what sync-agent doctor says of it")
            }
        }
    }

    /// A worker that has taken the request.
    private func worker(
        for request: CSyncDecoder_Request, _ picture: FileDescriptor, _ samples: MemoryFile
    ) throws(PhotoError) -> PictureWorker {
        while true {
            let idle = state.withLock { $0.idle.popLast() }
            do throws(Errno) {
                let worker = if let idle { idle } else { try start() }
                try worker.send(request, picture: picture, samples: samples.descriptor)
                return worker
            } catch {
                // It had nothing to do for a while, and has ended.
                if idle != nil { continue }
                throw PhotoError(.outOfResources, "its decoder cannot be started: \(error)")
            }
        }
    }

    private func start() throws(Errno) -> PictureWorker {
        guard let program else { throw .noSuchFileOrDirectory }
        return try PictureWorker(program)
    }

    private func giveBack(_ worker: PictureWorker) {
        state.withLock { state in
            if !state.isClosed, !worker.isEnded { state.idle.append(worker) }
        }
    }
}

extension PhotoError {
    fileprivate static func nonsense(_ reason: String) -> PhotoError {
        PhotoError(.corrupt, "its decoder answered nonsense (\(reason)); the picture may be made to do so")
    }

    /// Makes what a worker reads or fills.
    static func givingMemory<Value>(_ make: () throws(Errno) -> Value) throws(PhotoError) -> Value {
        do throws(Errno) {
            return try make()
        } catch {
            throw PhotoError(.outOfResources, "its decoder cannot be given memory: \(error)")
        }
    }

    /// `.unsupported`: there is nothing that could look into it.
    static let noDecoder = PhotoError(
        .unsupported,
        "\(PictureWorkers.programName), which decodes pictures of this kind, is not installed beside sync-agent")
}

/// Where the bytes of a picture are.
enum PictureSource {
    /// The descriptor stays the caller's, and open; its own position is not used.
    case file(FileDescriptor, size: Int64)
    case bytes([UInt8])

    func stream(from start: Int64) -> ByteStream {
        switch self {
        case .file(let descriptor, let size): ByteStream(descriptor, size: size, from: start)
        case .bytes(let bytes): ByteStream(bytes, from: start)
        }
    }
}

/// The bytes of a picture as a worker reads them.
private struct PictureFile {
    let descriptor: FileDescriptor
    let size: Int64
    /// Of what was in memory.
    private let copy: MemoryFile?

    init(_ source: PictureSource) throws(PhotoError) {
        switch source {
        case .file(let descriptor, let size):
            (self.descriptor, self.size, copy) = (descriptor, size, nil)
        case .bytes(let bytes):
            let copy = try PhotoError.givingMemory { () throws(Errno) in
                let copy = try MemoryFile(named: "picture")
                try copy.write(bytes)
                return copy
            }
            (descriptor, size, self.copy) = (copy.descriptor, Int64(bytes.count), copy)
        }
    }
}

/// What a picture may take to be decoded.
struct PictureRoom {
    /// Width × height.
    let pixels: Int64
    /// Bytes of the decoder.
    let memory: Int64
    let isMoreLeft: Bool

    /// Bytes of a sample's pixel at most: there are three colours.
    private static let sampleBytes: Int64 = 3

    /// Three of this kind have room beside each other.
    static func usual(_ limits: PhotoLimits) -> PictureRoom {
        PictureRoom(pixels: min(limits.pixels, 20_000_000), memory: min(limits.memory, 108 << 20), isMoreLeft: true)
    }

    /// The samples have all of it, and the decoder once more.
    static func all(_ limits: PhotoLimits) -> PictureRoom {
        PictureRoom(pixels: min(limits.pixels, limits.memory / sampleBytes), memory: limits.memory, isMoreLeft: false)
    }

    /// Both of them: what is set aside.
    var bytes: Int64 { memory + pixels * Self.sampleBytes }
}
