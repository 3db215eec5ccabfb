import SyncCore
import SyncLedger
import SystemPackage

/// Reads the files that hold due events, each of them once for a batch. Everything here blocks.
struct EventShelf: Sendable {
    /// One file, without its bytes.
    enum Content: Sendable {
        case read(ReadEventFile)
        /// It has not the name any more under which it is known.
        case absent
        case unreadable(String)
    }

    let scanner: any TreeScanner
    let reducer: any PhotoReducer

    func look(at place: EventPlace, for ids: Set<String>) -> Content {
        do {
            guard let stamp = try scanner.stamp(of: place.file) else { return .absent }
            let bytes = try bytes(of: place, stamp)
            let file = GalleryEventFile(bytes, profile: place.profile)
            let doubtful = Self.doubtful(ids, in: file, bytes)
            return .read(ReadEventFile(place: place, stamp: stamp, events: file, doubtful: doubtful))
        } catch let error as PhotoError where error.code == .missing {
            return .absent
        } catch {
            return .unreadable("\(error)")
        }
    }

    /// - Throws: ``PhotoError``.
    func bytes(of place: EventPlace, _ stamp: FileStamp) throws(PhotoError) -> [UInt8] {
        guard stamp.size <= GalleryEventFile.maximumSize else {
            let limit = GalleryEventFile.maximumSize >> 20
            throw PhotoError(.overLimit, "a file of more than \(limit) MiB is not read for gallery events")
        }
        return try reducer.read(place.file, 0..<Int(stamp.size), stamp: stamp)
    }

    /// Which ids may stand in what is no event any more: beside something damaged, each one that is not found whole.
    /// - Parameters:
    ///   - ids: of events of which text may be in the file.
    ///   - file: `nil` for bytes that are no file of events.
    static func doubtful(_ ids: Set<String>, in file: GalleryEventFile?, _ bytes: [UInt8]) -> Set<String> {
        let wanted = ids.subtracting((file?.events ?? []).map(\.id))
        guard !wanted.isEmpty, !bytes.isEmpty else { return [] }
        if let file { return file.malformed.isEmpty ? [] : wanted }
        // An id may be written in escapes.
        if JSONElements(of: bytes).damage != nil || bytes.contains(UInt8(ascii: "\\")) { return wanted }
        let quoted = bytes.split(separator: UInt8(ascii: "\""))
        let plain = bytes.split { !(0x30...0x39).contains($0) }
        return wanted.intersection((quoted + plain).lazy.map { String(decoding: $0, as: UTF8.self) })
    }
}

/// What a file of events held when it was read.
struct ReadEventFile: Sendable {
    let place: EventPlace
    let stamp: FileStamp
    /// `nil` when it holds no events any more.
    let events: GalleryEventFile?
    /// Ids of due events that only stand in damaged parts of it.
    let doubtful: Set<String>
    /// Indexes of events by id.
    private let byID: [String: [Int]]

    init(place: EventPlace, stamp: FileStamp, events: GalleryEventFile?, doubtful: Set<String>) {
        self.place = place
        self.stamp = stamp
        self.events = events
        self.doubtful = doubtful
        byID = Dictionary(grouping: (events?.events ?? []).indices) { events?.events[$0].id ?? "" }
    }

    func occurrences(of id: String) -> [EventOccurrence] {
        guard let events else { return [] }
        return (byID[id] ?? []).map { index in
            let event = events.events[index]
            return EventOccurrence(
                file: place.file, stamp: stamp, event: event, element: events.elements.elements[event.index])
        }
    }
}

/// One element of one file that is a due event.
struct EventOccurrence: Sendable {
    /// Absolute.
    let file: FilePath
    let stamp: FileStamp
    let event: GalleryEvent
    /// Where it stands in the file.
    let element: Range<Int>
}
