import CSyncDecoder
import SyncCore
import SyncSystem
import SystemPackage

/// What a worker's reply comes to, held against what it may say.
enum WorkerAnswer<Content> {
    case content(Content)
    case failure(PhotoError)
    /// No worker of ours answers so.
    case nonsense(String)

    func map<Other>(_ change: (Content) -> Other) -> WorkerAnswer<Other> {
        switch self {
        case .content(let content): .content(change(content))
        case .failure(let error): .failure(error)
        case .nonsense(let reason): .nonsense(reason)
        }
    }

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
