import FoundationEssentials
package import SyncCore
import SyncDigest
package import SyncLedger
import SystemPackage

/// Reads files of gallery events, and makes their photos ready. Everything here blocks and runs on the worker pool.
///
/// The file is in memory while it is read, and not while its photos are sent: each photo is read again from where it
/// stands. No text of an event leaves this type.
package struct EventFilePreparer: Sendable {
    package enum Photo: Sendable {
        case ready(PreparedPhoto)
        /// The same bytes are stored already.
        case stored(MD5Digest, ObjectRecord)
        /// It is the photo that the event is known to have.
        case known
    }

    private let ledger: Ledger
    private let reducer: any PhotoReducer
    private let planner: UploadPlanner
    private let policy: ReducePolicy

    init(
        ledger: Ledger, reducer: any PhotoReducer, planner: UploadPlanner, policy: ReducePolicy
    ) {
        self.ledger = ledger
        self.reducer = reducer
        self.planner = planner
        self.policy = policy
    }

    package enum File: Sendable {
        case events(PreparedEvents)
        case noEvents
        case unreadable(String)
    }

    /// Reads a file, and notes its events: what is known of them, what is new, and that this file holds them.
    /// - Throws: ``PhotoError``, ``LedgerError``.
    func prepare(_ claim: Claim, _ examined: PhotoExamination) throws -> File {
        switch try EventFileNoter(ledger: ledger, reducer: reducer).note(claim, stamp: examined.stamp) {
        case .noEvents: return .noEvents
        case .unreadable(let reason): return .unreadable(reason)
        case .events(let file, let noted):
            var seen: Set<Int64> = []
            let entries = zip(file.events, noted.records).compactMap { event, record -> PreparedEvents.Entry? in
                // One that is there twice, photo and all, is one.
                let isRepeat = !seen.insert(record.id).inserted
                guard !isRepeat || event.photo.isInline else { return nil }
                return PreparedEvents.Entry(event: event, record: record, isRepeat: isRepeat)
            }
            return .events(PreparedEvents(examined: examined, entries: entries, malformed: file.malformed))
        }
    }

    /// Makes the photo ready that stands in a file of events.
    /// - Parameters:
    ///   - range: as ``GalleryEvent/Photo/inline(_:)`` names it.
    ///   - known: of the photo that is stored of the event.
    ///   - mayBeStored: whether what the ledger knows as stored need not be made ready.
    /// - Throws: ``PhotoError`` that quotes nothing of the event, ``LedgerError``.
    func photo(_ range: Range<Int>, of claim: Claim, known: MD5Digest?, mayBeStored: Bool = true) throws -> Photo {
        let text = Base64Text(try reducer.eventText(of: claim.file, range, stamp: claim.stamp)[...])
        guard let bytes = text.decoded() else { throw PhotoError(.changed, "the file changed after it was examined") }
        let digest = ContentDigest(of: bytes)
        if digest.md5 == known { return .known }
        let key = try planner.pooled(PhotoID(digest.md5), .unknown).key
        let known = try ledger.object(key)
        if mayBeStored, let known, known.md5 == digest.md5, known.problem == nil { return .stored(digest.md5, known) }
        // Whatever its event is called, and however the file has grown since: these are the bytes that ended the agent.
        if let reason = try ledger.whySetAside(digest.md5, in: claim) { throw PhotoError(.corrupt, reason) }
        let copy = try ledger.whileDecoding(claim, photo: digest.md5) { try reducer.reduce(bytes, policy: policy) }
        let plan = try planner.pooled(PhotoID(digest.md5), copy.type)
        let examined = PhotoExamination(stamp: claim.stamp, type: copy.type, digest: digest)
        return .ready(PreparedPhoto(bytes, examined: examined, plan: plan, copy: copy, known: known))
    }
}

extension GalleryEvent.Photo {
    fileprivate var isInline: Bool { if case .inline = self { true } else { false } }
}
