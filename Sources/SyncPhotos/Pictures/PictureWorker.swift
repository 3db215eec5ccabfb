import CSyncDecoder
import Glibc
import SyncSystem
import SystemPackage

/// One process that decodes pictures, one after the other. It is ended with this value.
final class PictureWorker: Sendable {
    /// Two seconds in all.
    private static let (mostLooks, pause) = (400, useconds_t(5_000))

    private let program: StartedProgram
    private let socket: MessageSocket
    private let status = Mutex<StartedProgram.Status?>(nil)

    init(_ program: FilePath) throws(Errno) {
        let (ours, theirs) = try MessageSocket.pair()
        // Nothing of our environment: it may hold credentials.
        self.program = try StartedProgram(
            words: [program.string], environment: [:], descriptors: [theirs.descriptor, nil, nil])
        socket = ours
    }

    deinit {
        end()
    }

    /// - Throws: `.brokenPipe` when it has ended.
    func send(_ request: CSyncDecoder_Request, picture: FileDescriptor, samples: FileDescriptor) throws(Errno) {
        var request = request
        let code = CSyncDecoder_SendRequest(socket.descriptor, &request, picture.rawValue, samples.rawValue)
        guard code == 0 else { throw Errno(rawValue: code) }
    }

    /// - Throws: `.brokenPipe` when it has ended, `.protocolError` for what is no reply.
    func receive() throws(Errno) -> CSyncDecoder_Reply {
        var reply = CSyncDecoder_Reply()
        let code = CSyncDecoder_ReceiveReply(socket.descriptor, &reply)
        guard code == 0 else { throw Errno(rawValue: code) }
        return reply
    }

    /// Whether it has answered, or ended.
    func hasAnswered(within time: Duration) -> Bool { socket.isReadable(within: time) }

    var processorTime: Duration { program.processorTime ?? .zero }

    /// Ends it, if it has not ended by itself, and waits for that.
    func end() {
        status.withLock { $0 = $0 ?? program.kill() }
    }

    /// Whether ``end()`` was called.
    var isEnded: Bool { status.withLock { $0 != nil } }

    /// How it ended that has closed its socket: that comes a moment before its end.
    func ending() -> StartedProgram.Status {
        status.withLock { status in
            for _ in 0..<Self.mostLooks where status == nil {
                status = program.status()
                if status == nil { usleep(Self.pause) }
            }
            let known = status ?? program.kill()
            status = known
            return known
        }
    }
}
