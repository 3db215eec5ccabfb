package import FoundationEssentials
import GRDB
package import SyncCore

/// One picture or film in the stream of all that is or was here.
package struct TimelineItem: Sendable {
    package enum Source: Sendable {
        case photo(PhotoStatus)
        /// What is stored of an earlier content of a photo's file.
        case version(PhotoVersion, of: PhotoStatus)
        case event(EventPicture)
    }

    package let source: Source
    /// Milliseconds since 1970 on the clock of the place; where nothing tells when it was taken, that of the file in UTC.
    package let at: Int64
    package let cursor: TimelineCursor

    /// The day under which it stands.
    package var day: CalendarDay { CaptureTime(clock: at, offset: nil).day }

    /// What is stored of it, broken or not.
    package var object: ObjectRecord? {
        switch source {
        case .photo(let photo): photo.object ?? photo.earlier
        case .version(let version, _): version.object
        case .event(let picture): picture.object
        }
    }

    /// The name of its pages: only what was read once has one.
    package var md5: MD5Digest? {
        switch source {
        case .photo(let photo): photo.md5 ?? photo.earlier?.md5
        case .version(let version, _): version.object.md5
        case .event(let picture): picture.object.md5
        }
    }

    /// It is no longer what its file has.
    fileprivate var isEarlier: Bool {
        if case .version = source { true } else { false }
    }
}

/// The photo of a gallery event, in its pool or in the archive. No text of the event is in the ledger.
package struct EventPicture: Hashable, Sendable {
    package let eventID: String
    package let type: String
    /// Its id, else as the event gives it.
    package let profile: String
    package let createdAt: Date
    package let object: ObjectRecord
    /// Its text is gone from the disk, and its photo stands in the archive of memories.
    package let isArchived: Bool
}

/// A place in the stream: what comes after it is older.
package struct TimelineCursor: Hashable, Sendable, Comparable {
    let at: Int64
    /// Photos and events in one order.
    let rank: Int64

    package static func < (one: TimelineCursor, other: TimelineCursor) -> Bool {
        (one.at, one.rank) < (other.at, other.rank)
    }

    init(at: Int64, rank: Int64) {
        self.at = at
        self.rank = rank
    }

    /// As ``text`` has it; `nil` for any other text.
    package init?(_ text: some StringProtocol) {
        let parts = text.split(separator: "_", omittingEmptySubsequences: false)
        guard parts.count == 2, let at = Int64(parts[0]), let rank = Int64(parts[1]) else { return nil }
        self.init(at: at, rank: rank)
    }

    /// Digits, `-` and `_`: it stands in links as it is.
    package var text: String { "\(at)_\(rank)" }
}

/// Which part of the stream is wanted: what each condition that is set holds for.
package struct TimelineFilter: Hashable, Sendable {
    package enum Kind: String, Sendable, CaseIterable {
        case gallery, vacations, projects
        /// Photos of gallery events, archived or not.
        case events
        /// Of these, the ones in the archive of memories.
        case memories
    }

    package enum State: String, Sendable, CaseIterable {
        /// Stored, and readable at once.
        case stored
        case archived, retrieving, restored
        /// Not stored yet.
        case waiting
        /// Cannot be stored, or what was stored of it is gone or damaged.
        case failed
        /// No longer on this disk.
        case missing
    }

    package var kind: Kind?
    package var state: State?
    package var folder: FolderID?
    /// Of the local day.
    package var year: Int?
    /// 1 to 12, of the local day.
    package var month: Int?
    /// Whose event it is, as ``Ledger/timelineProfiles()`` has it.
    package var profile: String?
    package var eventType: String?
    /// Part of a file's name or folder, or of an event's id; letters of ASCII in either case.
    package var text: String?

    package init(
        kind: Kind? = nil, state: State? = nil, folder: FolderID? = nil, year: Int? = nil, month: Int? = nil,
        profile: String? = nil, eventType: String? = nil, text: String? = nil
    ) {
        self.kind = kind
        self.state = state
        self.folder = folder
        self.year = year
        self.month = month
        self.profile = profile
        self.eventType = eventType
        self.text = text
    }
}

extension Ledger {
    /// The next items of the stream, the latest day first: pictures and films of folders, and photos of events.
    ///
    /// Each call walks over all photos and keeps no more than it returns: no index has to be kept for it by whoever stores photos.
    /// - Parameter cursor: where an earlier page ended; `nil` for the beginning.
    package func timeline(
        _ filter: TimelineFilter, after cursor: TimelineCursor?, limit: Int
    ) throws(LedgerError) -> [TimelineItem] {
        try read("read the timeline") { db in
            let (sql, arguments) = LedgerQuery.timeline(filter, after: cursor, limit: limit)
            return try db.timelineItems(sql, arguments)
        }
    }

    /// All that has these bytes: photos at their places, photos of events, and at the end photos whose files had them once.
    /// Cheap, but for a look at each archived event and each earlier version.
    /// - Parameter key: under which such a photo is stored.
    package func timeline(of md5: MD5Digest, storedAs key: ObjectKey) throws(LedgerError) -> [TimelineItem] {
        try read("read a photo") { db in
            let items =
                try db.timelineItems(LedgerQuery.timelineOfObject, [key.rawValue, key.rawValue])
                + db.timelineItems(LedgerQuery.timelineOfMemory, [md5.blob])
                + db.timelineItems(LedgerQuery.timelineOfProject, [key.rawValue, md5.blob])
                + db.timelineItems(LedgerQuery.timelineOfWaiting, [key.rawValue, md5.blob])
            var seen: Set<Int64> = []
            let present = try items.filter { seen.insert($0.cursor.rank).inserted }.map { item in
                // Its file has other bytes by now, which are not stored yet.
                guard case .photo(let photo) = item.source, let known = photo.md5, known != md5 else { return item }
                return try db.timelineItem(of: photo, before: md5, at: item.at) ?? item
            }
            let earlier = try db.numbers(LedgerQuery.photosOfEarlierContent, [md5.blob]).compactMap { id in
                try db.row(LedgerQuery.photo, [id], as: PhotoStatus.self).flatMap {
                    try db.timelineItem(of: $0, before: md5, at: nil)
                }
            }
            return (present + earlier).sorted { ($0.isEarlier ? 0 : 1, $0.cursor) > ($1.isEarlier ? 0 : 1, $1.cursor) }
        }
    }

    /// The years that the stream has, the latest first.
    package func timelineYears() throws(LedgerError) -> [Int] {
        try read("read the years of the timeline") { try $0.numbers(LedgerQuery.timelineYears).map(Int.init) }
    }

    /// Whose photos of events the stream has: ids of profiles, else what the events give.
    package func timelineProfiles() throws(LedgerError) -> [String] {
        try read("read the profiles of the timeline") { try $0.texts(LedgerQuery.timelineProfiles) }
    }

    /// Of which types the stream has photos of events.
    package func timelineTypes() throws(LedgerError) -> [String] {
        try read("read the types of the timeline") { try $0.texts(LedgerQuery.timelineTypes) }
    }
}

extension Database {
    fileprivate func timelineItems(_ sql: String, _ arguments: StatementArguments) throws -> [TimelineItem] {
        try rawRows(sql, arguments).compactMap { row in
            let cursor = TimelineCursor(at: row[0], rank: row[1])
            return try timelineSource(rank: cursor.rank).map {
                TimelineItem(source: $0, at: cursor.at, cursor: cursor)
            }
        }
    }

    /// - Parameter at: `nil`: as the version itself tells it.
    /// - Returns: `nil` where the photo has no such version whose copy is whole.
    fileprivate func timelineItem(of photo: PhotoStatus, before md5: MD5Digest, at: Int64?) throws -> TimelineItem? {
        let version = try versions(of: photo).first { $0.object.md5 == md5 && $0.object.key.copyOfOriginal == nil }
        guard let version else { return nil }
        let at = at ?? version.object.takenAt?.clock ?? photo.modified.milliseconds
        return TimelineItem(
            source: .version(version, of: photo), at: at, cursor: TimelineCursor(at: at, rank: photo.id << 2 | 3))
    }

    /// `nil` for what is no longer there.
    private func timelineSource(rank: Int64) throws -> TimelineItem.Source? {
        let id = rank >> 2
        switch rank & 3 {
        case 0: return try row(LedgerQuery.photo, [id], as: PhotoStatus.self).map { .photo($0) }
        case 1: return try row(LedgerQuery.eventPicture, [id], as: EventPicture.self).map { .event($0) }
        case 2: return try row(LedgerQuery.archivedPicture, [id], as: EventPicture.self).map { .event($0) }
        // Earlier versions are in no stream.
        default: return nil
        }
    }
}

extension EventPicture: FetchableRecord {
    init(row: Row) throws {
        self.init(
            eventID: EventIdentity.givenID(row[0]), type: row[1], profile: row[4],
            createdAt: Date(milliseconds: row[2]), object: try ObjectRecord(row: row, from: 5), isArchived: row[3])
    }
}
