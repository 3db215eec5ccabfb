import CSyncDecoder
import Glibc
import SyncCore
import SyncSystem
import SystemPackage

/// One process that decodes pictures, one after the other. It is ended with this value.
final class PictureWorker: Sendable {
    /// Two seconds in all.
    private static let (mostLooks, pause) = (400, useconds_t(5_000))

    private let program: StartedProgram
    private let socket: MessageSocket
    private let status = Lock<StartedProgram.Status?>(nil)

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

/// What a worker's reply comes to, held against what it may say.
enum WorkerAnswer<Content> {
    case content(Content)
    case failure(PhotoError)
    /// No worker of ours answers so.
    case nonsense(String)

    /// The reason that a worker gives; `nil` when it has done what it was asked for.
    static func failure(_ reply: CSyncDecoder_Reply) -> Self? {
        let words = String(array: reply.message)
        // They reach terminals.
        let message = String(
            String.UnicodeScalarView(words.unicodeScalars.filter { $0.properties.generalCategory != .control }))
        switch CSyncDecoder_Status(reply.status) {
        case CSYNC_DECODER_OK: return nil
        case CSYNC_DECODER_TRUNCATED:
            return .failure(PhotoError(.truncated, "the file ends before its picture does (\(message))"))
        case CSYNC_DECODER_CORRUPT:
            return .failure(PhotoError(.corrupt, "the picture's data is damaged (\(message))"))
        case CSYNC_DECODER_UNSUPPORTED: return .failure(PhotoError(.unsupported, message))
        case CSYNC_DECODER_OVER_LIMIT: return .failure(PhotoError(.overLimit, "over the limits: \(message)"))
        case CSYNC_DECODER_READ_FAILED:
            return .failure(PhotoError(Errno(rawValue: reply.error_number), "read"))
        // There was as much as any picture is given.
        case CSYNC_DECODER_OUT_OF_MEMORY:
            return .failure(PhotoError(.overLimit, "over the limits: it takes more memory to decode (\(message))"))
        case CSYNC_DECODER_INTERNAL:
            return .failure(PhotoError(.corrupt, "its decoder could not decode it (\(message))"))
        default: return .nonsense("status \(reply.status)")
        }
    }
}

/// What a worker is told to decode a picture with: it calls one library, and tries no other.
enum PictureFormat {
    case heif, png, webP, tiff, gif, bmp, raw

    /// `nil` for what is no picture, for JPEG, which this process decodes, and for kinds that no decoder is here for.
    init?(_ type: MediaType) {
        guard type.kind == .image else { return nil }
        switch type.name {
        case "image/heic", "image/heif", "image/avif": self = .heif
        case "image/png": self = .png
        case "image/webp": self = .webP
        case "image/tiff": self = .tiff
        case "image/gif": self = .gif
        case "image/bmp": self = .bmp
        case let name where MediaType.rawNames.contains(name): self = .raw
        default: return nil
        }
    }

    var code: CSyncDecoder_Format {
        switch self {
        case .heif: CSYNC_DECODER_HEIF
        case .png: CSYNC_DECODER_PNG
        case .webP: CSYNC_DECODER_WEBP
        case .tiff: CSYNC_DECODER_TIFF
        case .gif: CSYNC_DECODER_GIF
        case .bmp: CSYNC_DECODER_BMP
        case .raw: CSYNC_DECODER_RAW
        }
    }

    /// What further pictures in such a file are.
    var furtherPictures: DroppedPart {
        switch self {
        case .gif, .webP, .png: .motion
        case .heif, .tiff, .bmp, .raw: .secondPicture
        }
    }
}
