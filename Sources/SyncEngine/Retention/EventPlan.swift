import FoundationEssentials
import SyncCore
import SyncLedger
import SystemPackage

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
}

/// Where an event's photo is archived.
struct EventArchiveKey: Sendable {
    let profile: String
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
    func plan(_ due: DueEvent, _ contents: [Int64: EventFileReader.Content], _ ledger: Ledger) throws -> EventPlan {
        EventPlan(due: due, step: try step(due, contents, ledger))
    }

    private func step(
        _ due: DueEvent, _ contents: [Int64: EventFileReader.Content], _ ledger: Ledger
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
                occurrences += found
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
            let place = EventArchiveKey(
                profile: profile, user: user, month: month, event: id, type: type, keys: keys)
            _ = try place.key()
            return .archive(place, occurrences)
        } catch {
            return .fail("\(error)", nil)
        }
    }

    /// The profile as it stands in keys.
    private func profile(of event: EventRecord, _ ledger: Ledger) throws -> Result<String, ProfileObstacle> {
        if let uuid = event.profileUUID { return .success(uuid) }
        switch words.phones.identity(ofProfile: event.profile, region: words.region) {
        case .id: return .success(UUID(uuidString: event.profile)?.uuidString.lowercased() ?? event.profile)
        case .number(let number):
            guard let known = try ledger.profile(number) else { return .failure(.noProfile(number)) }
            return .success(known.uuid)
        case .unreadNumber: return .failure(.unread(region: words.region))
        case .doubtful: return .success(try Pseudonyms(ledger).profile(event.profile))
        }
    }
}
