import SyncCore
import SyncLedger
import SyncSystem
import SystemPackage

/// Stores the photos of a file of gallery events. As many are in memory and in flight as there are slots, which it shares with
/// all other photos.
///
/// Each is noted by itself as soon as it is proven, so that a kill at any line repeats at most those in flight.
struct EventFileUploader: Sendable {
    /// What the work on a file has come to.
    struct Ending: Sendable {
        let outcome: Outcome
        let note: EventFileNote
        let sent: SentCount
    }

    /// The ledger brings a file back when a photo beside it is done with; only one that was deleted meanwhile does not.
    private static let longestWait = Duration.seconds(60)
    /// After so many photos that could not be sent, the rest of the file is left for the next time too.
    private static let mostDelayed = 10
    /// As well, of photos in a row that were refused as a store, or a proxy before it, refuses that takes nothing.
    private static let mostRefused = 3
    /// Events whose results are kept until they are told in the order of the file.
    private static let group = 64

    let ledger: LedgerQueue
    let preparer: Preparer
    let uploader: Uploader
    let reads: DiskReads
    let pool: BlockingPool
    /// Signalled when a disk answers again.
    let work: Wakeup
    let suspects: Slots
    let slots: Slots
    /// Events by their rows. An id may stand in two files that are in hand: the second one then finds it stored.
    private let events = KeyedLock<Int64>()

    /// What the photos of a file have come to so far, on whichever task.
    private struct Progress: Sendable {
        var sent = SentCount()
        var delayed: [StoreError] = []
        var refused = 0
        /// Why the rest of the file is left for the next time.
        var end: StoreError?
        /// The rest is left because the agent stops.
        var isStopped = false

        mutating func mayGoOn(_ isStopping: Bool) -> Bool {
            if end == nil, isStopping { isStopped = true }
            return end == nil && !isStopped
        }

        mutating func note(_ photo: SentCount) {
            refused = 0
            sent.isStored = sent.isStored || photo.isStored
            sent.bytes += photo.bytes
        }

        mutating func note(_ error: StoreError) {
            delayed.append(error)
            refused = error.mayConcernWholeStore ? refused + 1 : 0
            if end != nil { return }
            if refused >= EventFileUploader.mostRefused || error.isCertain {
                end = error
            } else if delayed.count >= EventFileUploader.mostDelayed {
                end = delayed[0]
            }
        }
    }

    /// A photo that the store does not take holds up none of the others: the error is thrown at the end.
    /// - Parameter isStopping: asked before each photo; when it is, the rest is left for the next time.
    /// - Throws: ``StoreError``, ``PhotoError`` about the file, ``LedgerError``.
    func upload(
        _ file: PreparedEvents, _ claim: Claim, isStopping: @escaping @Sendable () -> Bool
    ) async throws -> Ending {
        var report = EventFileReport(malformed: file.malformed)
        let shared = Lock(Progress())
        // The second photo of an id comes after the first one.
        let groups = file.entries.grouped(atMost: Self.group, alone: \.isRepeat)
        for group in groups where !shared.withLock({ $0.isStopped }) {
            let results = try await group.concurrently(slots.count) { entry -> EventPhotoResult? in
                guard shared.withLock({ $0.mayGoOn(isStopping()) }) else { return nil }
                do {
                    let (result, sent) = try await events.withKey(entry.record.id) { try await photo(of: entry, claim) }
                    shared.withLock { $0.note(sent) }
                    return result
                } catch let error as StoreError {
                    shared.withLock { $0.note(error) }
                    return nil
                }
            }
            if let error = shared.withLock({ $0.end }) { throw error }
            for (entry, result) in zip(group, results) {
                if let result { report.add(entry, result) }
            }
        }
        let progress = shared.withLock { $0 }
        if !progress.isStopped, let error = progress.delayed.first { throw error }
        let outcome: Outcome =
            if progress.isStopped {
                .released
            } else if report.queued == 0 {
                report.outcome(file.examined.digest)
            } else {
                .waits(
                    report.queued.counted("of its photos is a file that waits", "of its photos are files that wait")
                        + " for its turn",
                    until: preparer.now() + Self.longestWait)
            }
        return Ending(outcome: outcome, note: report.note, sent: progress.sent)
    }

    private func photo(of entry: PreparedEvents.Entry, _ claim: Claim) async throws -> (EventPhotoResult, SentCount) {
        let record = try await ledger { try $0.event(entry.record) } ?? entry.record
        let isStored = record.photoState == .stored
        switch entry.event.photo {
        case .none where isStored, .beside where isStored: return (.stored(record.object), SentCount())
        case .none: return (.none, SentCount())
        case .beside(let name): return (try await ledger { try Self.link(record, to: name, claim, $0) }, SentCount())
        case .inline(let range):
            do {
                return try await slots.withSlot { try await store(range, of: entry, record, claim) }
            } catch let error as PhotoError where error.isPermanent {
                try await ledger { try $0.noteEventPhoto(record, failed: error.message) }
                return (.failed(error.message), SentCount())
            }
        }
    }

    private func store(
        _ range: Range<Int>, of entry: PreparedEvents.Entry, _ record: EventRecord, _ claim: Claim
    ) async throws -> (EventPhotoResult, SentCount) {
        let events = preparer.events
        var sent = SentCount()
        let md5: MD5Digest
        let object: ObjectRecord
        var photo = try await alone(claim) { try events.photo(range, of: claim, known: record.photoMD5) }
        if case .stored(let known, let knownObject) = photo {
            if let confirmed = try await uploader.confirm(knownObject) {
                photo = .stored(known, confirmed)
            } else {
                photo = try await alone(claim) {
                    try events.photo(range, of: claim, known: nil, mayBeStored: false)
                }
            }
        }
        switch photo {
        case .known: return (.stored(record.object), sent)
        case .stored(let known, let confirmed): (md5, object) = (known, confirmed)
        case .ready(let photo):
            let receipt = try await uploader.upload(photo)
            (md5, object, sent) = (photo.examined.digest.md5, receipt.object, receipt.sent)
        }
        // Where its id has another photo, that one stays the event's.
        _ = try await ledger {
            try $0.noteEventPhoto(record, md5: md5, object: object, in: entry.isRepeat ? nil : claim)
        }
        return (.stored(object), sent)
    }

    /// One suspect at a time is decoded, as of photos that are files: an agent that ends tells by it which one it was.
    private func alone<Value: Sendable>(
        _ claim: Claim, _ look: @escaping @Sendable () throws -> Value
    ) async throws -> Value {
        guard claim.isSuspect else { return try await read(claim, look) }
        return try await suspects.withSlot { try await read(claim, look) }
    }

    private func read<Value: Sendable>(
        _ claim: Claim, _ look: @escaping @Sendable () throws -> Value
    ) async throws -> Value {
        try await reads.run(in: claim.folder, on: pool, onReturn: work.signal, look)
    }

    private static func link(
        _ record: EventRecord, to name: FilePath.Component, _ claim: Claim, _ ledger: Ledger
    ) throws -> EventPhotoResult {
        var photo = try ledger.photo(name, beside: claim)
        if photo?.object == nil {
            // Noted first, and then looked at once more: from here on whatever comes of this name brings the file back.
            try ledger.noteEventPhoto(record, waitsFor: name)
            photo = try ledger.photo(name, beside: claim)
        }
        if photo?.object == nil {
            let path = claim.relativePath.removingLastComponent().appending(name)
            if let rule = claim.folder.filter.exclusion(of: path) { return .leftOut(LeftOutWords.byFilter(rule)) }
        }
        guard let photo else { return .waiting }
        if let object = photo.object, let md5 = object.md5 {
            try ledger.noteEventPhoto(record, md5: md5, object: object)
            return .stored(object)
        }
        return photo.isOnItsWay ? .queued : .failed("its photo beside the file cannot be stored")
    }
}

/// What came of the events of one file, counted, and in words: ids and reasons of ours, never a text.
struct EventFileReport {
    private static let named = 10

    private(set) var events = 0
    private(set) var photos = 0
    private(set) var stored = 0
    private(set) var failed: [String] = []
    private(set) var waiting: [String] = []
    /// Photos beside the file that a filter keeps from being stored.
    private(set) var leftOut: [String] = []
    /// Photos beside the file that are in the queue themselves.
    private(set) var queued = 0
    private(set) var firstObject: ObjectRecord?
    private(set) var others: [String] = []
    private(set) var unknownTypes: Set<ByteString> = []
    private(set) var ofUnknownType = 0
    let malformed: [MalformedEvent]

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
        case .failed(let reason): failed.append("\(name): \(reason)")
        case .leftOut(let reason): leftOut.append("\(name): its photo is \(reason)")
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
        let photos = leftOut.isEmpty ? "without photos" : "of which no photo is to be stored"
        return .skipped("gallery events \(photos): their text stays on this machine (\(text))")
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
            Self.list("waiting", waiting), Self.list("not stored", leftOut),
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
    case failed(String)
    /// It is a file that a filter leaves out: why.
    case leftOut(String)
    /// It is to be a file that is not there.
    case waiting
    /// It is a file that is not stored yet.
    case queued
}
