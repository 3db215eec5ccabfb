import FoundationEssentials
package import SyncCore
package import SyncLedger

/// A page of archived photos.
package struct ArchivePage: Hashable, Sendable {
    /// The newest first.
    package let photos: [ArchivedGalleryPhoto]
    /// The last photo of this page, when there are more: the next page is what comes after it.
    package let next: ObjectKey?
    /// What is in the archive, below the prefixes that were listed, and could not be looked at.
    package var problems = ProblemList<ObjectProblem>()
}

/// Lists archived photos by what the store says alone, the newest first.
///
/// What it costs: a store lists keys in byte order, which is by profile first, and cannot begin with the newest month. So
/// the keys are listed once, a thousand a request, below the longest prefix that the filter allows. A listing tells
/// neither when an event was created nor of which type it is: all photos of the months that a page reaches into are asked
/// for one by one (HEAD), unless the ``ArchiveIndex`` knows them. With 10,000 photos of 20 months, a page of 50 takes 10 LIST
/// and 500 HEAD requests, which is $0.0003 by Amazon's prices, and the next time only the HEADs of those that have titles,
/// are in archive classes or have changed; with a profile and a month, 1 LIST and that month's HEADs. A type that is rare
/// reaches into many months. Memory: what a listing tells of the photos of as many months as the page needs (of all, where
/// it is of one type, or has no limit); what is known of the page and of one month.
package struct ArchiveListing: Sendable {
    /// No photo has the key after which a page was to begin.
    package struct UnknownPhoto: Error, CustomStringConvertible {
        package let key: ObjectKey

        package var description: String { "\(key.rawValue.escapingControls): no such photo is in the archive any more" }
    }

    /// Requests under way at once.
    private static let headsInFlight = 8
    private static let progressStep = 200

    private typealias Listed = (place: ArchivedPhotoPlace, info: ObjectInfo)

    /// The newest months of a listing, as far back as a page is likely to reach.
    private struct ListedMonths {
        let filter: ArchiveFilter
        /// The month in which the page begins, of which a part is meant.
        let start: CalendarDay?
        /// Of the page.
        let limit: Int
        var months: [CalendarDay: [Listed]] = [:]
        /// Nothing of older months is kept.
        var end: CalendarDay?
        var isCut = false

        var newestFirst: [(CalendarDay, [Listed])] {
            months.sorted { $0.key > $1.key }.map { ($0.key, $0.value) }
        }

        /// The month at whose end the listing was cut; `nil` when all of it is here.
        var cut: CalendarDay? { isCut ? end : nil }

        mutating func add(_ photo: Listed) {
            if let end, photo.place.month < end {
                isCut = true
            } else {
                months[photo.place.month, default: []].append(photo)
            }
        }

        /// Lets go of what is older than the page and one photo more, by which it has a next one.
        mutating func trim() {
            var count = 0
            for (month, photos) in newestFirst {
                if count > limit {
                    months[month] = nil
                    isCut = true
                    continue
                }
                if month != start, filter.acceptsAll(of: month) { count += photos.count }
                if count > limit { end = month }
            }
        }
    }

    private let store: any ReadableStore
    private let keys: KeyLayout
    private let index: ArchiveIndex?

    /// - Parameters:
    ///   - store: with retries.
    ///   - index: `nil` where there is no ledger.
    package init(store: any ReadableStore, keys: KeyLayout, index: ArchiveIndex?) {
        self.store = store
        self.keys = keys
        self.index = index
    }

    /// - Parameters:
    ///   - last: the last photo of the page before; `nil` for the first page.
    ///   - limit: at most so many; `nil` for all.
    ///   - progress: how many photos were looked at by now.
    /// - Throws: ``StoreError``, ``UnknownPhoto``, `CancellationError`.
    package func page(
        _ filter: ArchiveFilter, after last: ObjectKey? = nil, limit: Int?, progress: (Int) -> Void = { _ in }
    ) async throws -> ArchivePage {
        let denied = DeniedObjects()
        var start: ArchivedGalleryPhoto?
        if let last {
            start = try await memory(at: last)
            denied.noteGivenBefore()
        }
        let limit = limit ?? .max
        var problems = ProblemList<ObjectProblem>()
        var photos: [ArchivedGalleryPhoto] = []
        var seen = 0
        var done: CalendarDay?
        listing: while true {
            let (months, unread) = try await months(filter, from: start?.place.month, before: done, limit: limit)
            // The first listing has told all of them.
            if done == nil { problems = unread }
            for (month, listed) in months.newestFirst {
                if photos.count == limit, filter.acceptsAll(of: month) { break listing }
                let found = try await check(listed, denied, &seen, &problems, progress)
                    .filter { filter.accepts($0) && start?.precedes($0) ?? true }
                    .sorted { $0.precedes($1) }
                let room = limit - photos.count
                photos += found.prefix(room)
                if found.count > room { break listing }
            }
            // Photos were listed that are gone, or cannot be looked at, or are of other days than their keys say.
            guard let cut = months.cut else { return ArchivePage(photos: photos, next: nil, problems: problems) }
            // Something older was listed, and any of it is meant.
            if photos.count == limit, filter.type == nil, filter.from == nil { break }
            done = cut
        }
        return ArchivePage(photos: photos, next: photos.last?.key, problems: problems)
    }

    private func memory(at key: ObjectKey) async throws -> ArchivedGalleryPhoto {
        guard let place = ArchivedPhotoPlace(key, of: keys), let info = try await store.head(key) else {
            throw UnknownPhoto(key: key)
        }
        return ArchivedGalleryPhoto(info, at: place)
    }

    /// - Parameters:
    ///   - start: the month in which the page begins; `nil` for the newest.
    ///   - done: the last month that was looked at; `nil` before the first.
    private func months(
        _ filter: ArchiveFilter, from start: CalendarDay?, before done: CalendarDay?, limit: Int
    ) async throws -> (ListedMonths, ProblemList<ObjectProblem>) {
        var months = ListedMonths(filter: filter, start: start, limit: limit)
        var problems = ProblemList<ObjectProblem>()
        for prefix in filter.prefixes(in: keys) {
            var last: ObjectKey?
            for try await page in store.listing(prefix: prefix) {
                problems.note(
                    contentsOf: page.problems.filter { problem in
                        ArchivedPhotoPlace(problem.key, of: keys).map(filter.mayAccept) ?? false
                    })
                await index?.drop(notIn: page, after: last, below: prefix)
                last = page.objects.last?.key ?? last
                for object in page.objects {
                    guard let place = ArchivedPhotoPlace(object.key, of: keys), filter.mayAccept(place),
                        start.map({ place.month <= $0 }) ?? true, done.map({ place.month < $0 }) ?? true
                    else { continue }
                    months.add((place, object))
                }
                months.trim()
            }
        }
        return (months, problems)
    }

    /// What was deleted since it was listed is left out; what cannot be looked at stops nothing, unless nothing can.
    private func check(
        _ listed: [Listed], _ denied: DeniedObjects, _ seen: inout Int, _ problems: inout ProblemList<ObjectProblem>,
        _ progress: (Int) -> Void
    ) async throws -> [ArchivedGalleryPhoto] {
        var memories: [ArchivedGalleryPhoto] = []
        for some in listed.grouped(atMost: Self.progressStep) {
            let known = await known(some)
            // What is known is asked for no more, and what was denied is.
            if !known.isEmpty { denied.noteGivenBefore() }
            let unknown = some.filter { known[$0.place.key] == nil }
            let answers = try await unknown.concurrently(Self.headsInFlight) { photo in
                try await denied.ask { try await store.confirmedHead(photo.place.key) }
            }
            var told: [(Listed, ObjectInfo)] = []
            for (photo, answer) in zip(unknown, answers) {
                switch answer {
                case .success(let info): if let info { told.append((photo, info)) }
                case .failure(let error): problems.note(ObjectProblem(key: photo.place.key, error: error))
                }
            }
            await index?.note(
                told.filter { store.listingTellsAccess(to: $0.0.info) }.map { (listed: $0.info, told: $1) })
            memories += some.compactMap { photo in
                known[photo.place.key].map { ArchivedGalleryPhoto($0, at: photo.place) }
            }
            memories += told.map { ArchivedGalleryPhoto($1, at: $0.place) }
            seen += some.count
            progress(seen)
        }
        return memories
    }

    /// As `head` would tell of them.
    private func known(_ listed: [Listed]) async -> [ObjectKey: ObjectInfo] {
        guard let index else { return [:] }
        let known = await index.known(listed.map(\.info).filter(store.listingTellsAccess))
        return Dictionary(known.map { ($0.key, $0) }, uniquingKeysWith: { first, _ in first })
    }
}

/// What archived photos told of themselves when they were asked last. Who lists them again asks only for what has changed
/// since, and for what has a title: of an event's text nothing is kept here.
///
/// It is a help. What the ledger can neither read nor note at the moment is asked of the store; whatever is wrong with the
/// file, others meet it too, and tell.
package struct ArchiveIndex: Sendable {
    /// Seconds. Who changes an object twice within one leaves the same time, and may leave the same mark: it has to be over by
    /// the store's clock, too. S3 refuses whom 15 minutes are between ("RequestTimeTooSkewed").
    private static let settled: TimeInterval = 20 * 60

    private let ledger: LedgerQueue
    private let time: TimeSource

    package init(ledger: LedgerQueue, time: TimeSource) {
        self.ledger = ledger
        self.time = time
    }

    fileprivate func known(_ listed: [ObjectInfo]) async -> [ObjectInfo] {
        (try? await ledger { try $0.archiveNotes(of: listed) }) ?? []
    }

    fileprivate func note(_ photos: [(listed: ObjectInfo, told: ObjectInfo)]) async {
        let now = time.now()
        let settled = photos.filter { isSettled($0.listed, $0.told, at: now) }
        try? await ledger { try $0.noteArchivedPhotos(settled) }
    }

    /// - Parameter last: the last key of the page before.
    fileprivate func drop(notIn page: ObjectPage, after last: ObjectKey?, below prefix: String) async {
        let end = page.next == nil ? nil : page.objects.last?.key
        // A page without objects that is not the last one tells of no range.
        if page.next != nil, end == nil { return }
        let keys = Set(page.objects.map(\.key))
        try? await ledger { try $0.dropArchiveNotes(below: prefix, after: last, through: end, but: keys) }
    }

    /// Whether both tell of one version, and no later one can be taken for it. The head of a reply has whole seconds.
    private func isSettled(_ listed: ObjectInfo, _ told: ObjectInfo, at now: Date) -> Bool {
        guard let etag = listed.etag, let modified = listed.modified, let seen = told.modified else { return false }
        return etag == told.etag && Self.second(modified) == Self.second(seen)
            && now.timeIntervalSince(modified) > Self.settled
    }

    private static func second(_ date: Date) -> Double { date.timeIntervalSince1970.rounded(.down) }
}

/// Which archived photos are meant.
package struct ArchiveFilter: Hashable, Sendable {
    /// As they are in keys; `nil` for all.
    package var profiles: [String]?
    /// Whether the profiles are meant in upper and lower case alike.
    package var ignoresCase: Bool
    /// The first and the last day on which the event was created, UTC.
    package var from: CalendarDay?
    package var to: CalendarDay?
    package var type: GalleryEventType?

    package init(
        profiles: [String]? = nil, ignoresCase: Bool = false, from: CalendarDay? = nil, to: CalendarDay? = nil,
        type: GalleryEventType? = nil
    ) {
        self.profiles = profiles
        self.ignoresCase = ignoresCase
        self.from = from
        self.to = to
        self.type = type
    }

    /// What the keys of such photos begin with, as far as that can be said.
    func prefixes(in keys: KeyLayout) -> [String] {
        // Keys are in the order of their bytes: a name in any case may stand anywhere.
        guard let profiles, !ignoresCase else { return [keys.galleryArchive] }
        return profiles.map { keys.galleryArchive + $0 + "/" + months }
    }

    /// The year, and the month, that all of them have.
    private var months: String {
        guard let from, let to, from.year == to.year else { return "" }
        let parts = from.description.split(separator: "-")
        return parts[0] + "/" + (from.month == to.month ? parts[1] + "/" : "")
    }

    /// Whether its key lets a photo be one of them.
    func mayAccept(_ place: ArchivedPhotoPlace) -> Bool {
        if let profiles, !profiles.contains(where: { isSame($0, place.profile) }) { return false }
        if let from, (place.month.year, place.month.month) < (from.year, from.month) { return false }
        // A month is its first day.
        return to.map { place.month <= $0 } ?? true
    }

    private func isSame(_ profile: String, _ other: String) -> Bool {
        profile.utf8.elementsEqual(other.utf8) || ignoresCase && profile.lowercased() == other.lowercased()
    }

    /// Whether all photos of a month are meant that have the right profile.
    func acceptsAll(of month: CalendarDay) -> Bool {
        type == nil && from.map { $0 <= month } ?? true
            && to.map { (month.year, month.month) < ($0.year, $0.month) } ?? true
    }

    func accepts(_ memory: ArchivedGalleryPhoto) -> Bool {
        let day = CalendarDay(memory.createdAt)
        return mayAccept(memory.place) && type.map { $0 == memory.type } ?? true && from.map { $0 <= day } ?? true
            && to.map { day <= $0 } ?? true
    }
}
