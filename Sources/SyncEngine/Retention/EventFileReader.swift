import SyncCore
import SyncDigest
import SyncLedger
import SyncSystem
import SystemPackage

/// Reads the files that hold due events, each of them once for a batch. Everything here blocks.
struct EventFileReader: Sendable {
    /// One file, without its bytes.
    enum Content: Sendable {
        case read(ReadEventFile)
        /// A program is at work on it: half a file looks damaged, and what goes on with it knows nothing of a rewrite.
        case unfinished
        /// It has not the name any more under which it is known.
        case absent
        case unreadable(String)
    }

    let scanner: any TreeScanner
    let reducer: any PhotoReducer
    /// For so long a file is as it is before it counts as whole.
    let settle: Duration
    let time: TimeSource
    /// What a run has written itself is whole, however young it is. Another run begins with none.
    let rewritten = Mutex<[FilePath: FileStamp]>([:])

    /// Whether another program may be at work on a file.
    func isUnfinished(_ file: FilePath, _ stamp: FileStamp) -> Bool {
        if rewritten.withLock({ $0[file] == stamp }) { return scanner.isBeingWritten(file) }
        return scanner.whyUnfinished(file, stamp, settle: settle, at: time.now()) != nil
    }

    /// The same, of the file as it is now. What cannot be looked at is told by who reads it.
    func isUnfinished(_ file: FilePath) -> Bool {
        guard let stamp = try? scanner.stamp(of: file) else { return false }
        return isUnfinished(file, stamp)
    }

    /// - Parameter events: the due ones that are known to be in the file.
    func look(at place: EventPlace, for events: [EventRecord]) -> Content {
        do {
            guard let stamp = try scanner.stamp(of: place.file) else { return .absent }
            if isUnfinished(place.file, stamp) { return .unfinished }
            let (text, found) = try reducer.eventFile(place.file, of: place.profile, stamp: stamp)
            return .read(
                ReadEventFile(
                    place: place, stamp: stamp, events: found, text.bytes, for: events,
                    doubtful: Self.doubtful(events, in: found, text.bytes)))
        } catch let error as PhotoError where error.code == .missing {
            return .absent
        } catch let error as PhotoError where error.code == .changed {
            return .unfinished
        } catch {
            return .unreadable("\(error)")
        }
    }

    /// Whether a text is what a cleanup leaves when nothing is left, or as good as that.
    static func holdsNothing(_ text: [UInt8]) -> Bool {
        let rest = text.filter { ![0x20, 0x0A, 0x0D, 0x09].contains($0) }
        return rest.isEmpty || [Array("[]".utf8), Array("{}".utf8)].contains(rest)
    }

    /// Which events may stand in what is no event any more: beside something damaged, each one that is not found whole.
    /// - Parameters:
    ///   - events: of which text may be in the file.
    ///   - file: `nil` for a text that is no file of events.
    /// - Returns: why, by their rows.
    static func doubtful(_ events: [EventRecord], in file: GalleryEventFile?, _ text: [UInt8]) -> [Int64: String] {
        let whole = file?.events ?? []
        let ids = Set(whole.map(\.id.inBytes))
        // Under its id there may be another event by now: the damaged part may still be this one.
        let isDamaged = file.map { !$0.malformed.isEmpty } ?? false
        let wanted = events.filter { event in
            isDamaged
                ? !whole.contains { $0.id.inBytes == event.eventID.inBytes && event.isOf($0, photo: nil) }
                : !ids.contains(event.eventID.inBytes)
        }
        guard !wanted.isEmpty, !text.isEmpty else { return [:] }
        func because(_ reason: String, _ events: [EventRecord]) -> [Int64: String] {
            Dictionary(events.map { ($0.id, reason) }) { first, _ in first }
        }
        if file != nil {
            if isDamaged { return because(EventFileRewriter.damaged, wanted) }
            // The id was the name of the file.
            return whole.contains(where: \.hasOuterID) ? because(EventFileRewriter.renamed, wanted) : [:]
        }
        // An id may be written in escapes.
        if JSONElements(of: text).damage != nil || text.contains(UInt8(ascii: "\\")) {
            return because(EventFileRewriter.damaged, wanted)
        }
        let quoted = text.split(separator: UInt8(ascii: "\""))
        let plain = text.split { !$0.isDigit }
        let found = Set((quoted + plain).lazy.map { String(decoding: $0, as: UTF8.self).inBytes })
        return because(EventFileRewriter.damaged, wanted.filter { found.contains($0.eventID.inBytes) })
    }
}

/// What a file of events held when it was read.
struct ReadEventFile: Sendable {
    let place: EventPlace
    let stamp: FileStamp
    /// Why due events may stand where they cannot be found, by their rows.
    let doubtful: [Int64: String]
    let holdsNothing: Bool
    /// The elements that are due events, by the rows of these.
    private let found: [Int64: [EventOccurrence]]

    /// - Parameters:
    ///   - events: `nil` when it holds no events any more.
    ///   - due: the due events that are known to be in it.
    ///   - doubtful: why some of them may stand where they cannot be found.
    init(
        place: EventPlace, stamp: FileStamp, events: GalleryEventFile?, _ text: [UInt8], for due: [EventRecord],
        doubtful: [Int64: String]
    ) {
        self.place = place
        self.stamp = stamp
        self.doubtful = doubtful
        holdsNothing = EventFileReader.holdsNothing(text)
        var found: [Int64: [EventOccurrence]] = [:]
        let dueByID = Dictionary(grouping: due, by: \.eventID.inBytes)
        for event in events?.events ?? [] {
            guard let events, let candidates = dueByID[event.id.inBytes] else { continue }
            let digest = event.photoDigest(in: text)
            for record in candidates where record.isOf(event, photo: digest) {
                found[record.id, default: []].append(
                    EventOccurrence(
                        file: place.file, stamp: stamp, event: event, element: events.elements.elements[event.index]))
            }
        }
        self.found = found
    }

    func occurrences(of event: EventRecord) -> [EventOccurrence] { found[event.id] ?? [] }
}
