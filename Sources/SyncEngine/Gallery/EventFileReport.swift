import SyncCore
import SyncLedger

/// What came of the events of one file, counted, and in words: ids and reasons of ours, never a text.
struct EventFileReport {
    private static let named = 10

    private(set) var events = 0
    private(set) var photos = 0
    private(set) var stored = 0
    private(set) var failed: [String] = []
    private(set) var waiting: [String] = []
    /// Photos beside the file that are in the queue themselves.
    private(set) var queued = 0
    private(set) var firstObject: ObjectRecord?
    private var others: [String] = []
    private var unknownTypes: Set<ByteString> = []
    private var ofUnknownType = 0
    private let malformed: [MalformedEvent]

    init(malformed: [MalformedEvent]) {
        self.malformed = malformed
    }

    mutating func add(_ entry: PreparedEvents.Entry, _ result: EventPhotoResult) {
        let name = "#\(entry.event.index + 1) \(entry.event.id.escapingControls)"
        if entry.isRepeat {
            if case .failed(let reason) = result { failed.append("\(name): \(reason)") }
            return
        }
        events += 1
        if entry.record.isOfUsedID { others.append(name) }
        if !entry.event.type.isKnown {
            ofUnknownType += 1
            unknownTypes.insert(entry.event.type.rawValue.inBytes)
        }
        if result != .none { photos += 1 }
        switch result {
        case .none: break
        case .stored(let object):
            stored += 1
            firstObject = firstObject ?? object
        case .another(let object):
            stored += 1
            firstObject = firstObject ?? object
        case .failed(let reason): failed.append("\(name): \(reason)")
        case .waiting: waiting.append("\(name): its photo is not beside the file")
        case .queued: queued += 1
        }
    }

    /// How the work on the file ended, unless photos beside it are still in the queue.
    func outcome(_ digest: ContentDigest) -> Outcome {
        // A photo that could not be told from text is stored nowhere.
        let isAllStored = failed.isEmpty && waiting.isEmpty && !malformed.contains(where: \.holdsPhoto)
        if !isAllStored || events == 0 { return .failed(text, digest) }
        if let firstObject { return .uploaded(digest, firstObject) }
        if stored > 0 { return .skipped("gallery events whose photos are in the archive (\(text))") }
        return .skipped("gallery events without photos: their text stays on this machine (\(text))")
    }

    var note: EventFileNote {
        EventFileNote(events: events, malformed: malformed.count, text: text)
    }

    private var text: String {
        var parts = [events.counted("event")]
        if photos > 0 { parts.append("\(stored.counted("photo")) stored") }
        if ofUnknownType > 0 {
            let more = unknownTypes.count > Self.named ? " and others" : ""
            let names = unknownTypes.sorted().prefix(Self.named).map(\.string).joined(separator: ", ")
            parts.append("\(ofUnknownType) of unknown type: \(names)\(more)")
        }
        parts += [
            Self.list("with an id that another event has", others), Self.list("failed", failed),
            Self.list("waiting", waiting),
            Self.list("malformed", malformed.map(\.description)),
        ].compactMap(\.self)
        return parts.joined(separator: ", ")
    }

    private static func list(_ what: String, _ reasons: [String]) -> String? {
        if reasons.isEmpty { return nil }
        let more = reasons.count > named ? "; and \(reasons.count - named) more" : ""
        return "\(reasons.count) \(what): \(reasons.prefix(named).joined(separator: "; "))\(more)"
    }
}

/// What came of the photo of one event.
enum EventPhotoResult: Hashable {
    /// It has none.
    case none
    /// The object is `nil` when the photo is in the archive only.
    case stored(ObjectRecord?)
    /// It is stored, but its id has another photo, which stays that of the event.
    case another(ObjectRecord)
    case failed(String)
    /// It is to be a file that is not there.
    case waiting
    /// It is a file that is not stored yet.
    case queued
}
