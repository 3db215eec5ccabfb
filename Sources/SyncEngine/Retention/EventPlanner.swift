import FoundationEssentials
import SyncCore
import SyncDigest
import SyncLedger
import SyncSystem
import SystemPackage

extension DueEvent {
    /// The files that hold some events, in the order of their rows, with what stands for these events. One that is clean of
    /// an event is among them with nothing of it: a run that was killed may have left it empty.
    static func byPlace<Item>(_ items: [(due: DueEvent, item: Item)]) -> [(place: EventPlace, items: [Item])] {
        var places: [Int64: (place: EventPlace, items: [Item])] = [:]
        for (due, item) in items {
            for place in due.places where place.isConfigured {
                places[place.photoID, default: (place, [])].items += place.isClean ? [] : [item]
            }
        }
        return places.values.sorted { $0.place.photoID < $1.place.photoID }
    }
}

/// One element of one file that is a due event.
struct EventOccurrence: Sendable {
    let place: EventPlace
    let stamp: FileStamp
    let event: GalleryEvent
    /// Where it stands in the text of the file.
    let element: Range<Int>

    /// Absolute.
    var file: FilePath { place.file }
}

/// What is to become of one due event, found out without writing anything.
struct EventPlan: Sendable {
    enum Step: Sendable {
        /// Its photo goes to the archive, its text is deleted.
        case archive(EventArchiveKey, [EventOccurrence])
        /// It has no photo.
        case deleteText(profile: String)
        case skip(String, FilePath?)
        case fail(String, FilePath?)
    }

    let due: DueEvent
    let step: Step

    /// Under which its photo is archived, unless another photo has that key.
    var key: ObjectKey? {
        guard case .archive(let place, _) = step else { return nil }
        return try? place.key()
    }
}

extension EventPlan {
    /// Why the event's photo is known not to come into the archive, and of which file; `nil` where only trying it
    /// tells. Blocks.
    func knownFault(_ ledger: Ledger) throws(LedgerError) -> (reason: String, file: FilePath)? {
        guard case .archive(_, let occurrences) = step else { return nil }
        for occurrence in occurrences {
            if let reason = try knownFault(of: occurrence, ledger) { return (reason, occurrence.file) }
        }
        return nil
    }

    private func knownFault(of occurrence: EventOccurrence, _ ledger: Ledger) throws(LedgerError) -> String? {
        switch occurrence.event.photo {
        case .none: return nil
        case .inline: return due.event.photoState == .failed ? due.event.problem : nil
        case .beside(let name):
            let photo = try ledger.photo(name, besideFile: occurrence.place.photoID)
            do throws(Errno) {
                _ = try FileStatus(at: occurrence.file.removingLastComponent().appending(name))
            } catch {
                return error.isMissing ? BesidePhotoCheck.whyMissing(photo, stored: due.event.photoMD5) : nil
            }
            return photo?.state == .failed ? "its photo beside the file cannot be stored" : nil
        }
    }
}

/// Where an event's photo is archived.
struct EventArchiveKey: Sendable {
    var profile: String
    /// Whose event it is; `nil` where it does not tell, or tells it by what may be a telephone number.
    let user: String?
    let month: CalendarDay
    /// The event's id, or its pseudonym where that may tell a telephone number.
    let event: String
    /// `nil` where its name may tell a telephone number.
    let type: GalleryEventType?
    let keys: KeyLayout

    /// - Parameter photo: where another photo has the key that is the event's alone.
    func key(besides photo: MD5Digest? = nil) throws(InvalidName) -> ObjectKey {
        try keys.archivedPhoto(profile: profile, month: month, event: event, besides: photo)
    }
}

/// Decides what is to become of due events.
struct EventPlanner: Sendable {
    /// Bytes of an event's ids as metadata of an object, of ``MetadataSize/limit``: the rest is for what the photo tells.
    private static let mostOfIDs = 1_200

    let keys: KeyLayout
    let words: ArchiveWords

    /// - Parameter contents: of all places of the event, by the rows of their files.
    /// - Throws: ``LedgerError``.
    func step(
        for due: DueEvent, _ contents: [Int64: EventFileReader.Content], _ ledger: Ledger
    ) throws -> EventPlan.Step {
        let event = due.event
        var occurrences: [EventOccurrence] = []
        for place in due.places {
            guard place.isConfigured else {
                if place.isClean { continue }
                let reason =
                    "it is in a file of a folder that is no gallery of the configuration, which is left as it is"
                return .skip(reason, place.file)
            }
            switch contents[place.photoID] {
            case .read(let file):
                if let reason = file.doubtful[event.id] { return .fail(reason, place.file) }
                let found = file.occurrences(of: event)
                // What was edited since may still be its text: it is no file from which it has gone.
                if found.isEmpty, !place.isClean, !file.holdsNothing {
                    return .skip(EventFileRewriter.edited, place.file)
                }
                if event.photoState != .stored, let rule = Self.exclusion(of: found, place) {
                    return .skip("its photo is \(LeftOutWords.byFilter(rule))", place.file)
                }
                occurrences += found
            case .unfinished:
                return .skip(EventFileRewriter.unfinished, place.file)
            case .unreadable(let reason):
                return .fail(reason, place.file)
            case .absent, nil:
                // Taken away by us, or by somebody else to another name: then its text is there.
                guard place.isClean else {
                    return .skip("the file is not there any more; the next sync finds out where it went", place.file)
                }
            }
        }
        let profile: String
        switch try self.profile(of: event, ledger) {
        case .success(let found): profile = found
        case .failure(let unknown): return .skip("\(unknown)", nil)
        }
        let month = CalendarDay(event.createdAt)
        let id =
            words.mayLeave(eventID: event.eventID, of: month)
            ? event.eventID : try Pseudonyms(ledger).event(event.eventID)
        let user = event.userID.flatMap { words.mayLeave($0) ? $0 : nil }
        let type = words.mayLeave(event.type.rawValue) ? event.type : nil
        let ids = [id, user ?? "", profile, type?.rawValue ?? ""]
        guard ids.reduce(0, { $0 + MetadataSize.bytes(of: $1) }) <= Self.mostOfIDs else {
            return .skip("its ids are too long for the metadata of an object", nil)
        }
        let hasPhoto = occurrences.contains { $0.event.photo != .none }
        guard hasPhoto || event.object != nil || event.photoState != .none else { return .deleteText(profile: profile) }
        do {
            let place = EventArchiveKey(profile: profile, user: user, month: month, event: id, type: type, keys: keys)
            _ = try place.key()
            return .archive(place, occurrences)
        } catch {
            return .fail("\(error)", nil)
        }
    }

    /// The rule by which the photo beside the file is never stored, and so not archived: its text stays.
    private static func exclusion(of occurrences: [EventOccurrence], _ place: EventPlace) -> String? {
        for case .beside(let name) in occurrences.map(\.event.photo) {
            if let rule = place.exclusion(ofFileBeside: name) { return rule }
        }
        return nil
    }

    /// The profile as it stands in keys.
    private func profile(of event: EventRecord, _ ledger: Ledger) throws -> Result<String, ProfileObstacle> {
        if let uuid = event.profileUUID { return .success(try ledger.mergedProfile(uuid)) }
        let given: String
        switch words.phones.identity(ofProfile: event.profile, region: words.region) {
        case .id: given = UUID(uuidString: event.profile)?.uuidString.lowercased() ?? event.profile
        case .number(let number):
            guard let known = try ledger.profile(number) else { return .failure(.noProfile(number)) }
            given = known.uuid
        case .unreadNumber: return .failure(.unread(region: words.region))
        case .doubtful: given = try Pseudonyms(ledger).profile(event.profile)
        }
        return .success(try ledger.mergedProfile(given))
    }
}

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
    let rewritten = Lock<[FilePath: FileStamp]>([:])

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
    func content(of place: EventPlace, for events: [EventRecord]) -> Content {
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
        let wholeByID = Dictionary(grouping: whole, by: \.id.inBytes)
        // Under its id there may be another event by now: the damaged part may still be this one.
        let isDamaged = file.map { !$0.malformed.isEmpty } ?? false
        let wanted = events.filter { event in
            let found = wholeByID[event.eventID.inBytes] ?? []
            return isDamaged ? !found.contains { event.isOf($0, photo: nil) } : found.isEmpty
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
                        place: place, stamp: stamp, event: event, element: events.elements.elements[event.index]))
            }
        }
        self.found = found
    }

    func occurrences(of event: EventRecord) -> [EventOccurrence] { found[event.id] ?? [] }
}
