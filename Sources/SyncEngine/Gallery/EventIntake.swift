package import SyncCore
import SyncDigest
package import SyncLedger
package import SyncSystem
import SystemPackage

/// Looks at the files of galleries before a cleanup does: what nobody has read yet may be due, and what was edited counts
/// as it is now. It notes events and sends nothing.
package struct EventIntake: Sendable {
    private static let named = 10

    private let pass: SyncPass?
    private let ledger: LedgerQueue
    private let noter: EventFileNoter
    private let scanner: any TreeScanner
    private let settle: Duration
    private let pool: BlockingPool
    private let work: Wakeup?
    private let time: TimeSource

    /// - Parameters:
    ///   - pass: over the galleries. `nil` where an agent of another process sees to that: only files that it has in its
    ///     queue are read.
    ///   - settle: for so long a file is as it is before it counts as whole.
    ///   - work: signalled when the queue has got something new.
    package init(
        pass: SyncPass?, ledger: LedgerQueue, scanner: any TreeScanner, reducer: any PhotoReducer, settle: Duration,
        pool: BlockingPool, work: Wakeup? = nil, time: TimeSource
    ) {
        self.pass = pass
        self.ledger = ledger
        noter = EventFileNoter(ledger: ledger.ledger, reducer: reducer)
        self.scanner = scanner
        self.settle = settle
        self.pool = pool
        self.work = work
        self.time = time
    }

    /// - Returns: files in which something cannot be told, which therefore keeps its text.
    /// - Throws: ``LedgerError``, `CancellationError`.
    func takeIn() async throws -> [RetentionSummary.Issue] {
        if let pass {
            let queued = try await pass.takeIn().queued
            if queued > 0 { work?.signal() }
        }
        let unread = try await ledger { try $0.unreadEventFiles() }
        var issues: [RetentionSummary.Issue] = []
        // One file in memory at a time.
        for claim in unread.whole {
            if let issue = try await pool.run({ try read(claim) }) { issues.append(issue) }
        }
        for file in unread.held {
            if let issue = try await pool.run({ whyHeld(file) }) { issues.append(issue) }
        }
        for link in try await ledger({ try $0.linkedEventFiles() }) {
            if let issue = try await pool.run({ whyUntold(link) }) { issues.append(issue) }
        }
        let known = try await ledger { try $0.unclearEventFiles() }
        let met = Set(unread.whole.map(\.file) + unread.held)
        return issues
            + known.filter { !met.contains($0.path) }.map {
                RetentionSummary.Issue(file: $0.path, reason: Self.untold($0.reason))
            }
    }

    /// - Returns: what is to be told of a file of which some cannot be told.
    private func read(_ claim: Claim) throws -> RetentionSummary.Issue? {
        do {
            guard let stamp = try scanner.stamp(of: claim.file) else { return nil }
            let isCurrent = stamp.isUntouched(since: claim.stamp)
            let reason = try isCurrent ? whyUnclear(claim, stamp) : nil
            if isCurrent, reason == nil { return nil }
            // Half a file looks damaged.
            if scanner.whyUnfinished(claim.file, stamp, settle: settle, at: time.now()) != nil {
                return RetentionSummary.Issue(file: claim.file, reason: EventFileRewriter.unfinished, waits: true)
            }
            // What is another file by now, the next look at the folder sees.
            return reason.map { RetentionSummary.Issue(file: claim.file, reason: Self.untold($0)) }
        } catch let error as ScanError {
            return RetentionSummary.Issue(file: claim.file, reason: Self.untold(error.message))
        }
    }

    /// - Returns: `nil` for a file that is gone.
    private func whyHeld(_ file: FilePath) -> RetentionSummary.Issue? {
        do throws(ScanError) {
            if try scanner.stamp(of: file) == nil { return nil }
            return RetentionSummary.Issue(file: file, reason: EventFileRewriter.unfinished, waits: true)
        } catch {
            return RetentionSummary.Issue(file: file, reason: Self.untold(error.message))
        }
    }

    private func whyUnclear(_ claim: Claim, _ stamp: FileStamp) throws -> String? {
        do {
            switch try noter.note(claim, stamp: stamp) {
            case .noEvents: return nil
            case .unreadable(let reason): return "it \(reason)"
            case .events(let file, _):
                if file.malformed.isEmpty { return nil }
                let rest = file.malformed.count > Self.named ? "; and more" : ""
                return "\(file.malformed.count) malformed: "
                    + file.malformed.prefix(Self.named).map(\.description).joined(separator: "; ") + rest
            }
        } catch let error as PhotoError {
            return error.code == .changed || error.code == .missing ? nil : error.message
        }
    }

    /// - Returns: `nil` for a link to what holds no events.
    private func whyUntold(_ link: FilePath) -> RetentionSummary.Issue? {
        guard let file = link.resolved, let stamp = try? scanner.stamp(of: file) else { return nil }
        if let read = try? noter.reducer.eventFile(file, of: nil, stamp: stamp), read.events == nil { return nil }
        return RetentionSummary.Issue(
            file: link,
            reason: "it is a symbolic link, which is not followed: what it leads to keeps its text; put the file itself"
                + " there")
    }

    private static func untold(_ reason: String) -> String {
        "what cannot be read keeps its text; correct it, or remove it (\(reason))"
    }
}

/// Reads a file of gallery events, and notes in the ledger what it holds. Everything here blocks.
struct EventFileNoter: Sendable {
    enum Finding: Sendable {
        /// With what is known of each event, in the same order.
        case events(GalleryEventFile, [EventRecord])
        case noEvents
        /// It is no whole JSON, and may hold events all the same. The reason quotes nothing of the file.
        case unreadable(String)
    }

    let ledger: Ledger
    let reducer: any PhotoReducer

    /// - Parameter stamp: of the file as it is read.
    /// - Throws: ``PhotoError``, ``LedgerError``.
    func note(_ claim: Claim, stamp: FileStamp) throws -> Finding {
        let (text, events) = try reducer.eventFile(claim.file, of: claim.folder.profile, stamp: stamp)
        guard let file = events else {
            // What a cleanup leaves of a file is the cleanup's to remove.
            if EventFileReader.holdsNothing(text.bytes) { return .noEvents }
            if let damage = text.damage ?? JSONElements(of: text.bytes).damage.map({ "is damaged at \($0)" }) {
                return .unreadable(damage)
            }
            if try !ledger.events(of: claim.photoID).isEmpty { try ledger.noteEvents([], of: claim) }
            return .noEvents
        }
        var photos: [Int: MD5Digest] = [:]
        for event in file.events { photos[event.index] = event.photoDigest(in: text.bytes) }
        let noted = try ledger.noteEvents(file.events, photos: photos, isWhole: file.malformed.isEmpty, of: claim)
        guard noted.count == file.events.count else {
            throw PhotoError(.changed, "the file changed after it was examined")
        }
        return .events(file, noted)
    }
}

extension PhotoReducer {
    /// All of a file of events.
    /// - Throws: ``PhotoError``; `.changed` when the file is not the one with this stamp.
    func eventText(of file: FilePath, stamp: FileStamp) throws(PhotoError) -> JSONFileText {
        JSONFileText(try eventFileBytes(of: file, stamp: stamp))
    }

    private func eventFileBytes(of file: FilePath, stamp: FileStamp) throws(PhotoError) -> [UInt8] {
        guard stamp.size <= GalleryEventFile.maximumSize else {
            let limit = GalleryEventFile.maximumSize >> 20
            throw PhotoError(.overLimit, "a JSON file of more than \(limit) MiB is not read for gallery events")
        }
        return try read(file, 0..<Int(stamp.size), stamp: stamp)
    }

    /// The text of a file with its events; `nil` where it is no file of events.
    /// - Throws: as ``eventText(of:stamp:)``.
    func eventFile(
        _ file: FilePath, of profile: String?, stamp: FileStamp
    ) throws(PhotoError) -> (text: JSONFileText, events: GalleryEventFile?) {
        let text = try eventText(of: file, stamp: stamp)
        return (text, GalleryEventFile(text, profile: profile, name: file.lastComponent))
    }

    /// A piece of the text of a file of events. Of UTF-16 all of it is read for the first one, to know where they stand.
    /// - Throws: as ``eventText(of:stamp:)``.
    func eventText(of file: FilePath, _ range: Range<Int>, stamp: FileStamp) throws(PhotoError) -> [UInt8] {
        let mark = try read(file, 0..<min(JSONFileText.headSize, Int(stamp.size)), stamp: stamp)
        guard JSONFileText.isUTF16(mark) else { return try read(file, range, stamp: stamp) }
        let places: JSONFilePlaces
        if let known = UTF16Files.places(of: file, stamp) {
            places = known
        } else {
            guard let made = JSONFilePlaces(try eventFileBytes(of: file, stamp: stamp)) else { throw Self.changed }
            UTF16Files.note(made, of: file, stamp)
            places = made
        }
        guard let piece = places.piece(of: range) else { throw Self.changed }
        let text = places.text(try read(file, piece.file, stamp: stamp))
        let wanted = range.lowerBound - piece.start..<range.upperBound - piece.start
        guard wanted.upperBound <= text.count else { throw Self.changed }
        return Array(text[wanted])
    }

    private static var changed: PhotoError { PhotoError(.changed, "the file changed after it was read") }
}

/// Where texts stand in the files in UTF-16 of which pieces were read last: each photo of an event is such a piece, and
/// finding it anew would take the whole file for each.
private enum UTF16Files {
    private static let most = 8
    private static let known = Lock<[(file: FilePath, stamp: FileStamp, places: JSONFilePlaces)]>([])

    static func places(of file: FilePath, _ stamp: FileStamp) -> JSONFilePlaces? {
        known.withLock { $0.first { $0.file == file && $0.stamp == stamp }?.places }
    }

    static func note(_ places: JSONFilePlaces, of file: FilePath, _ stamp: FileStamp) {
        known.withLock { known in
            known.removeAll { $0.file == file }
            known.append((file, stamp, places))
            if known.count > most { known.removeFirst() }
        }
    }
}

extension GalleryEvent {
    /// The MD5 of a photo that stands in the file itself.
    /// - Parameter text: of the file.
    func photoDigest(in text: [UInt8]) -> MD5Digest? {
        guard case .inline(let range) = photo else { return nil }
        return Base64Text(text[range]).decoded().map { ContentDigest(of: $0).md5 }
    }
}
