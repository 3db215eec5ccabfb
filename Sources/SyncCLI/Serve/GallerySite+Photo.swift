import FoundationEssentials
import SyncConfig
import SyncCore
import SyncEngine
import SyncLedger
import SystemPackage

/// The page of one photo: its picture, what is known of it, and what else is stored of it.
extension GallerySite {
    /// Of one photo, the latest first; `sync-agent status` lists the others.
    private static let mostVersions = 50

    func photo(_ id: String, _ session: String) async throws -> WebResponse {
        let now = workspace.time.now()
        guard let md5 = MD5Digest(hex: id) else { return notFound("There is no such photo.", session) }
        let items = try await items(md5)
        guard let first = items.first else { return notFound("There is no such photo.", session) }
        let (badge, companions, original, versions) = try await ledger { [policy] ledger in
            let badge = try StreamBadge(first, policy: policy, in: ledger, now: now)
            let original = try items.original(in: ledger)
            guard case .photo(let photo) = first.source else {
                return (badge, [PhotoStatus](), original, [PhotoVersion]())
            }
            return (badge, try ledger.companions(of: photo), original, try ledger.versions(of: photo))
        }
        let object = first.object
        let isFilm = object.map { FilmType(contentType: $0.contentType) != nil } ?? false
        let file = try await file(of: md5, among: items)
        let stored = file == nil ? storedCopy(of: md5, among: items) : nil
        let isReadable = object.map { $0.isReadable && $0.problem == nil } ?? false
        var facts = try await facts(first)
        if let event = items.lazy.compactMap(\.event).first { facts += try await self.facts(of: event) }
        if !companions.isEmpty {
            let names = companions.compactMap { $0.path.lastComponent?.string.escapingControls }
            facts.append(.init("Goes with it", names.joined(separator: ", ")))
        }
        let content = SitePage.Photo(
            id: md5.description, name: first.name, badge: badge.symbol, state: badge.words, facts: facts,
            places: items.map(\.place), further: further(of: first, isHere: file != nil, original, versions),
            hasPicture: file != nil || isReadable && !isFilm || stored != nil && sharedFiles != nil, hasThumbnail: true,
            isFilm: isFilm, canBeRestored: !isReadOnly && items.objectToRestore != nil,
            download: file != nil || stored != nil ? "/photo/\(md5)/file" : nil)
        return page(first.name, .photos, session, .photo(content))
    }

    /// What the store has beside the copy: the photo's own bytes, and copies of what its file was before.
    /// - Parameter isHere: the file is on this disk: nothing has to be brought back.
    private func further(
        of item: TimelineItem, isHere: Bool, _ original: ObjectRecord?, _ versions: [PhotoVersion]
    ) -> [SitePage.Photo.Further] {
        var further: [SitePage.Photo.Further] = []
        if case .version(_, of: let photo) = item.source, let present = photo.md5 {
            further.append(
                .init(text: "Its file has other bytes now", links: [.init("The photo now", "/photo/\(present)")]))
        }
        if let original, let md5 = item.md5 {
            var words = ["The file itself", Quantities.bytes(original.size)]
            if original.encoding == .jxl { words[1] += " as JPEG XL" }
            words.append(StreamBadge(original).words)
            var links: [SitePage.Listing.Link] = []
            if canBeSent(original) { links.append(.init("Download the original", "/photo/\(md5)/original")) }
            if !isReadOnly, !isHere, original.canBeRestored {
                links.append(.init("Bring the original back", "/restore?photo=\(OrderedPhoto(md5, isOriginal: true))"))
            }
            further.append(.init(text: words.joined(separator: ", "), links: links))
        }
        for version in versions.prefix(Self.mostVersions) {
            let words = [
                "Until \(Quantities.time(version.replacedAt))", Quantities.bytes(version.object.size),
                StreamBadge(version.object).words,
            ]
            let link = version.object.md5.map {
                SitePage.Listing.Link("Earlier version \(version.number)", "/photo/\($0)")
            }
            further.append(.init(text: words.joined(separator: ", "), links: [link].compactMap(\.self)))
        }
        return further
    }

    private func facts(of event: EventPicture) async throws -> [SitePage.Fact] {
        let share = workspace.settings.share
        let name = try await ledger { try $0.profileBook(share).name(event.profile) }
        return [
            .init("Profile", (name ?? event.profile).escapingControls), .init("Event", event.type.escapingControls),
            .init("Day of the event", "\(CalendarDay(event.createdAt))"),
        ]
    }

    private func facts(_ item: TimelineItem) async throws -> [SitePage.Fact] {
        var facts: [SitePage.Fact] = []
        if let takenAt = item.object?.takenAt {
            facts.append(.init("Taken", "\(takenAt.day), \(takenAt.hourAndMinute)"))
        }
        if case .photo(let photo) = item.source {
            if let bytes = photo.bytesLocal { facts.append(.init("File", Quantities.bytes(bytes))) }
            if let why = photo.why { facts.append(.init("Why", try await places().removed(from: why))) }
        }
        if case .version(let version, _) = item.source {
            facts.append(.init("Stored copy of", "\(item.name) as it was until \(Quantities.time(version.replacedAt))"))
        }
        guard let object = item.object else { return facts }
        var copy = Quantities.bytes(object.size)
        if let width = object.width, let height = object.height { copy += ", \(width) × \(height) pixels" }
        facts.append(.init("Stored copy", copy))
        facts.append(.init("Stored since", Quantities.day(object.storedAt)))
        facts.append(.init("Storage class", object.storageClass.rawValue))
        let job = try await ledger { ledger in
            guard object.restore == .inProgress, let item = try ledger.openRestoreItem(for: object.key) else {
                return RestoreJobSummary?.none
            }
            return try ledger.restoreJob(item.job)
        }
        if case .restored(let until) = object.restore, let until {
            facts.append(.init("Can be read until", Quantities.time(until)))
        } else if let ready = job.flatMap({ $0.job.end(after: $0.job.estimatedHours) }) {
            facts.append(.init("Back by", Quantities.time(ready)))
        }
        if !object.dropped.isEmpty {
            facts.append(.init("Not in the copy", object.dropped.map(\.rawValue).joined(separator: ", ")))
        }
        return facts
    }
}
