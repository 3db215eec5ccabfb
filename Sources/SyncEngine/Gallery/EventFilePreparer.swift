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

    let ledger: Ledger
    let reducer: any PhotoReducer
    let planner: UploadPlanner
    let policy: ReducePolicy

    /// Reads a file, and notes its events: what is known of them, what is new, and that this file holds them.
    /// - Throws: ``PhotoError``, ``LedgerError``.
    func prepare(_ claim: Claim, _ examined: PhotoFacts) throws -> Preparer.Preparation {
        switch try EventFileNoter(ledger: ledger, reducer: reducer).note(claim, stamp: examined.stamp) {
        case .noEvents: return .done(.skipped("JSON without gallery events; it stays on this machine"))
        case .unreadable(let reason):
            return .done(.skipped("it may hold gallery events and cannot be read: it \(reason)", .unreadable))
        case .events(let file, let noted):
            var seen: Set<Int64> = []
            let entries = zip(file.events, noted).compactMap { event, record -> PreparedEvents.Entry? in
                // One that is there twice, photo and all, is one.
                let isRepeat = !seen.insert(record.id).inserted
                if isRepeat { guard case .inline = event.photo else { return nil } }
                return PreparedEvents.Entry(event: event, record: record, isRepeat: isRepeat)
            }
            let events = PreparedEvents(examined: examined, entries: entries, malformed: file.malformed)
            return .ready(PreparedFile(claim: claim, content: .events(events)))
        }
    }

    /// Makes the photo ready that stands in a file of events.
    /// - Parameters:
    ///   - range: as ``GalleryEvent/Photo/inline(_:)`` names it.
    ///   - known: of the photo that is stored of the event.
    ///   - mayBeStored: whether what the ledger knows as stored need not be made ready.
    /// - Throws: ``PhotoError`` that quotes nothing of the event, ``LedgerError``; ``StoreError`` where it is no use to send
    ///   it now.
    func photo(_ range: Range<Int>, of claim: Claim, known: MD5Digest?, mayBeStored: Bool = true) throws -> Photo {
        let text = Base64Text(try reducer.eventText(of: claim.file, range, stamp: claim.stamp)[...])
        guard let bytes = text.decoded() else { throw PhotoError(.changed, "the file changed after it was examined") }
        let digest = ContentDigest(of: bytes)
        if digest.md5 == known { return .known }
        let key = try planner.pooled(PhotoID(digest.md5), .unknown).key
        let found = try ledger.lookUp(key, of: digest, orBelow: nil)
        if found.isBeingDeleted { throw StoreError.beingDeleted(key) }
        let known = found.atKey
        if mayBeStored, let known, known.md5 == digest.md5, known.problem == nil { return .stored(digest.md5, known) }
        // Whatever its event is called, and however the file has grown since: these are the bytes that ended the agent.
        if let reason = try ledger.whySetAside(digest.md5, in: claim) { throw PhotoError(.corrupt, reason) }
        let copy = try ledger.whileDecoding(claim, photo: digest.md5) { try reducer.reduce(bytes, policy: policy) }
        let plan = try planner.pooled(PhotoID(digest.md5), copy.type)
        let examined = PhotoFacts(stamp: claim.stamp, type: copy.type, digest: digest)
        return .ready(PreparedPhoto(bytes, examined: examined, plan: plan, copy: copy, known: known))
    }
}

/// A file of gallery events that was read, and noted in the ledger.
package struct PreparedEvents: Sendable {
    package struct Entry: Sendable {
        package let event: GalleryEvent
        /// What is known of its id; the id may have been seen elsewhere first.
        package let record: EventRecord
        /// Whether its id came earlier in the file. It is here because it has a photo, which may be another one.
        package let isRepeat: Bool
    }

    /// Of the file.
    package let examined: PhotoFacts
    /// In the order of the file.
    package let entries: [Entry]
    package let malformed: [MalformedEvent]
}
