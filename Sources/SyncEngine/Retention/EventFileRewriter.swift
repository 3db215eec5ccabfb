import FoundationEssentials
import SyncCore
import SyncLedger
import SyncSystem
import SystemPackage

/// Deletes the texts of events from all of the files that hold them, some files at once.
struct EventCleaner: Sendable {
    /// Files that are rewritten before the ledger hears of it, in one transaction. Between the two an agent may see them
    /// change, and they are looked at once more: so it is no more than what takes some tenths of a second.
    private static let group = 32
    private static let filesInFlight = 3
    /// Bytes. A larger file is rewritten beside no other: all of it is in memory, and what is left of it.
    private static let largestSmall: Int64 = 4 << 20

    let ledger: LedgerQueue
    let rewriter: EventFileRewriter
    let pool: BlockingPool

    private struct File: Sendable {
        let place: EventPlace
        let targets: [EventFileRewriter.Target]

        var isLarge: Bool { place.size > EventCleaner.largestSmall }

        func unchanged(_ reason: String) -> EventFileRewriter.Rewriting {
            EventFileRewriter.Rewriting(left: targets.map { ($0.event, reason) })
        }
    }

    /// - Parameter events: with the digests of their photos, which are proven to be stored.
    /// - Returns: why text of an event may still be in a file, by the rows of the events.
    /// - Throws: ``LedgerError``, `CancellationError`.
    func clean(_ events: [(due: DueEvent, photo: MD5Digest?)]) async throws -> [Int64: RetentionSummary.Issue] {
        let targets = events.map { ($0.due, EventFileRewriter.Target(event: $0.due.event, photo: $0.photo)) }
        var left: [Int64: RetentionSummary.Issue] = [:]
        let groups = DueEvent.byPlace(targets).map(File.init).grouped(atMost: Self.group, alone: \.isLarge)
        for files in groups {
            try Task.checkCancellation()
            for (file, reasons) in zip(files, try await clean(files)) {
                for (event, reason) in reasons {
                    left[event.id] = RetentionSummary.Issue(event: event.eventID, file: file.place.file, reason: reason)
                }
            }
        }
        return left
    }

    /// - Returns: for each file the events of which text may still be in it, and why.
    private func clean(_ files: [File]) async throws -> [[(event: EventRecord, reason: String)]] {
        // Not from when the batch began: an agent sees the batch before it rewrite the same file.
        let generations = try await ledger { [places = files.map(\.place)] in try $0.generations(of: places) }
        var results = try await files.concurrently(Self.filesInFlight) { try await rewrite($0) }
        try await syncReplaced(files, &results)
        try await noteClean(files, generations, &results)
        try await removeEmptied(files, &results)
        return results.map(\.left)
    }

    /// What was cut is gone for good after this.
    private func syncReplaced(_ files: [File], _ results: inout [EventFileRewriter.Rewriting]) async throws {
        let replaced = results.indices.filter { results[$0].isReplaced }
        let failures = try await pool.run { [rewriter] in
            rewriter.syncFolders(of: replaced.map { files[$0].place.file })
        }
        for (index, failure) in zip(replaced, failures) {
            if let failure { results[index] = files[index].unchanged(try Self.reason(of: failure)) }
        }
    }

    private func noteClean(
        _ files: [File], _ generations: [Int64?], _ results: inout [EventFileRewriter.Rewriting]
    ) async throws {
        let changed = results.indices.filter { !results[$0].clean.isEmpty || results[$0].emptied != nil }
        let cleaned = changed.map {
            CleanedEventFile(
                place: files[$0].place, generation: generations[$0], events: results[$0].clean,
                isEmptied: results[$0].emptied != nil)
        }
        let areNoted = try await ledger.finish { try $0.noteClean(cleaned) }
        for (index, isNoted) in zip(changed, areNoted) where !isNoted {
            results[index] = files[index].unchanged(EventFileRewriter.changed)
        }
    }

    private func removeEmptied(_ files: [File], _ results: inout [EventFileRewriter.Rewriting]) async throws {
        let empty = results.indices.filter { results[$0].emptied != nil }
        if empty.isEmpty { return }
        let stamped = empty.compactMap { index in results[index].emptied.map { (files[index].place.file, $0) } }
        let removals = try await pool.run { [rewriter] in rewriter.removeEmptied(stamped) }
        var removed: [Int64] = []
        for (index, removal) in zip(empty, removals) {
            switch removal {
            case .success(true): removed.append(files[index].place.photoID)
            case .success(false): break
            case .failure(let error): results[index] = files[index].unchanged(try Self.reason(of: error))
            }
        }
        try await ledger.finish { [removed] in try $0.markRemoved(removed) }
    }

    private func rewrite(_ file: File) async throws -> EventFileRewriter.Rewriting {
        do {
            return try await pool.run { [rewriter] in try rewriter.clean(file.place, of: file.targets) }
        } catch {
            return file.unchanged(try Self.reason(of: error))
        }
    }

    private static func reason(of error: any Error) throws -> String {
        switch error {
        case let error as Errno:
            "the file cannot be rewritten: \(FileFault(error, or: "move the folder to another disk").message)"
        case let error as PhotoError: error.message
        case let error as ScanError: error.message
        default: throw error
        }
    }
}

/// Deletes the text of events from their files, and keeps what others write meanwhile (``FileReplacement``). Everything here
/// blocks.
struct EventFileRewriter: Sendable {
    /// An event whose text may go.
    struct Target: Sendable {
        let event: EventRecord
        /// Of its photo, which is proven to be stored; `nil` for an event without one.
        let photo: MD5Digest?
    }

    struct Rewriting: Sendable {
        /// Events of which nothing is left in the file but what may stay.
        var clean: [EventRecord] = []
        var left: [(event: EventRecord, reason: String)] = []
        /// The stamp of a file in which nothing is left at all.
        var emptied: FileStamp?
        /// Whether the file is another one now. The text is gone for good once its folder is synced.
        var isReplaced = false
    }

    /// What is left of a file whose events are all gone, until the ledger knows that it may be removed.
    private static let nothing = Array("[]".utf8)

    let reader: EventFileReader
    let beside: BesidePhotoCheck
    let calls: FileRewriteCalls

    private var scanner: any TreeScanner { reader.scanner }

    /// - Throws: ``PhotoError``, ``ScanError``, `Errno`: then none of the events is clean. ``LedgerError``.
    func clean(_ place: EventPlace, of targets: [Target]) throws -> Rewriting {
        guard let stamp = try scanner.stamp(of: place.file) else {
            let reason = "the file is not there any more; the next sync finds out where it went"
            return place.isClean
                ? Rewriting(clean: targets.map(\.event)) : Rewriting(left: targets.map { ($0.event, reason) })
        }
        guard !reader.isUnfinished(place.file, stamp) else {
            return Rewriting(left: targets.map { ($0.event, Self.unfinished) })
        }
        let (text, events) = try reader.reducer.eventFile(place.file, of: place.profile, stamp: stamp)
        let bytes = text.bytes
        var result = Rewriting()
        if bytes == Self.nothing { result.emptied = stamp }
        let doubtful = EventFileReader.doubtful(targets.map(\.event), in: events, bytes)
        result.left = targets.compactMap { target in doubtful[target.event.id].map { (target.event, $0) } }
        let targets = targets.filter { doubtful[$0.event.id] == nil }
        guard let file = events else {
            if EventFileReader.holdsNothing(bytes) {
                result.clean = targets.map(\.event)
            } else {
                result.left += targets.map { ($0.event, Self.edited) }
            }
            return result
        }
        let cut = try Cut(of: targets, in: file, bytes) { name, md5 in
            try beside.whyOther(than: md5, name, beside: place)
        }
        result.clean = cut.clean
        result.left += cut.left
        guard !cut.removed.isEmpty || !cut.reduced.isEmpty else { return result }
        let rest = file.cut(bytes, removing: cut.removed, reducing: cut.reduced)
        let ours = try replace(place.file, stamp, by: rest.map(text.encoded) ?? Self.nothing)
        reader.rewritten.withLock { $0[place.file] = ours }
        if rest == nil { result.emptied = ours }
        result.isReplaced = true
        return result
    }

    /// Removes files in which nothing is left.
    /// - Returns: `false` for one to which somebody has written meanwhile. In the same order.
    func removeEmptied(_ files: [(file: FilePath, stamp: FileStamp)]) -> [Result<Bool, any Error>] {
        var results = files.map { file, stamp in
            Result {
                switch try replacement.remove(file, stamp) {
                case .removed: return true
                case .changed: return false
                case .kept(let hidden): throw Self.changedTwice(hidden)
                }
            }
        }
        let removed = files.indices.filter { (try? results[$0].get()) == true }
        for (index, error) in zip(removed, syncFolders(of: removed.map { files[$0].file })) {
            if let error { results[index] = .failure(error) }
        }
        return results
    }

    /// What was done to these files is on the disk for good when this returns. Each folder is synced once.
    /// - Returns: for each file why it may not be so.
    func syncFolders(of files: [FilePath]) -> [(any Error)?] {
        var failures: [FilePath: any Error] = [:]
        for folder in Set(files.map { $0.removingLastComponent() }) {
            do {
                try calls.syncFolder(folder)
            } catch {
                failures[folder] = error
            }
        }
        return files.map { failures[$0.removingLastComponent()] }
    }

    // MARK: What goes

    /// Which elements of a file go, and which are reduced.
    private struct Cut {
        var removed: Set<Int> = []
        var reduced: Set<Int> = []
        var clean: [EventRecord] = []
        var left: [(event: EventRecord, reason: String)] = []

        /// - Parameter whyOther: why a photo beside the file is not the one that is proven; `nil` when it is.
        init(
            of targets: [Target], in file: GalleryEventFile, _ bytes: [UInt8],
            whyOther: (FilePath.Component, MD5Digest) throws -> String?
        ) throws {
            let elements = Dictionary(grouping: file.events, by: \.id.inBytes)
            for target in targets {
                var (removed, reduced): ([Int], [Int]) = ([], [])
                var reason: String?
                var isFound = false
                for event in elements[target.event.eventID.inBytes] ?? [] {
                    // The element itself tells, as it stands there now: with another time, profile or photo it is another
                    // event, and has its own time.
                    let photo = event.photoDigest(in: bytes)
                    guard target.event.isOf(event, photo: photo) else { continue }
                    isFound = true
                    switch (target.photo, event.photo) {
                    case (nil, .none):
                        if !event.isBare { reduced.append(event.index) }
                    case (nil, _):
                        reason = "it has got a photo meanwhile; the next cleanup archives it"
                    case (let archived?, .inline):
                        if photo == archived {
                            removed.append(event.index)
                        } else {
                            reason = EventFileRewriter.another
                        }
                    case (let archived?, .beside(let name)):
                        if let why = try whyOther(name, archived) {
                            reason = why
                        } else {
                            removed.append(event.index)
                        }
                    case (_?, .none):
                        removed.append(event.index)
                    }
                }
                self.removed.formUnion(removed)
                self.reduced.formUnion(reduced)
                // Only what is cut here is gone: an edit may have made another event of it, with its text.
                if !isFound { reason = EventFileRewriter.edited }
                if let reason { left.append((target.event, reason)) } else { clean.append(target.event) }
            }
        }
    }

    // MARK: How it goes

    /// - Returns: the stamp of the new file.
    private func replace(_ file: FilePath, _ old: FileStamp, by bytes: [UInt8]) throws -> FileStamp {
        switch try replacement.replace(file, old, by: bytes) {
        case .replaced(let stamp): return stamp
        case .changed: throw PhotoError(.changed, Self.changed)
        case .kept(let hidden): throw Self.changedTwice(hidden)
        }
    }

    private static func changedTwice(_ hidden: FilePath) -> PhotoError {
        PhotoError(.changed, "the file changed twice at this moment; \(advice) as \(hidden)")
    }

    private var replacement: FileReplacement {
        FileReplacement(calls: calls, isBeingWritten: scanner.isBeingWritten)
    }

    /// Deals with what a cleanup that was killed left in a folder and all below it. Links are not followed, hidden folders
    /// left out: nothing in there is ever rewritten. What cannot be read or removed is left for the next time.
    /// - Returns: files of other programs that could not get their names back, and are kept.
    func settle(below folder: FilePath) -> [FilePath] {
        var kept = (try? replacement.settle(in: folder)) ?? []
        for child in (try? Folder.folders(in: folder)) ?? [] {
            // By bytes: a name that begins with a mark makes one character of it and the dot.
            if child.lastComponent?.string.utf8.first == UInt8(ascii: ".") { continue }
            kept += settle(below: child)
        }
        return kept
    }

    static let advice = "an earlier one that another program wrote is kept"
    static let edited =
        "it is not in the file any more as it was read; the next look at the file tells what is in it now"
    static let damaged = "the file is damaged where the event stands; correct it, or remove it"
    static let unfinished = "the file is still being written; the next cleanup reads it"
    static let renamed = "its id was the name of the file, which has another one; the next sync looks at it"
    static let changed = "the file changed meanwhile; the next cleanup reads it"
    static let another = "its photo is another one than was archived; the next sync looks at it again"
    /// What another look at the file settles.
    static let readAgain: Set<String> = [edited, renamed, another]
    /// What passes by itself, and is no failure.
    static let passing: Set<String> = [edited, unfinished, changed]
}
