package import FoundationEssentials
import GRDB
package import SyncCore
package import SystemPackage

/// What a catalogue tells besides photos, once it is all read.
package struct CatalogState: Hashable, Sendable {
    package var vacations: [CatalogVacation] = []
    package var shares: [CatalogShare] = []
    package var restores: [CatalogRestore] = []
    package var profiles: [CatalogProfile] = []

    package init() {}

    /// - Returns: `false` for a line of something else.
    package mutating func take(_ line: CatalogLine) -> Bool {
        switch line {
        case .state: self = CatalogState()
        case .vacation(let vacation): vacations.append(vacation)
        case .share(let share): shares.append(share)
        case .restore(let restore):
            // Of one with many photos there are several lines.
            if restores.last?.restore == restore.restore {
                restores[restores.count - 1].items += restore.items
            } else {
                restores.append(restore)
            }
        case .profile(let profile): profiles.append(profile)
        default: return false
        }
        return true
    }
}

extension Ledger {
    /// Notes vacations, shares and restores as a catalogue has them, after its photos. What is known already stays.
    /// - Parameter places: where the watched folders of its machine are here, where that is another path.
    /// - Returns: how many photos of restores that are new here were still to be saved, nobody knows where.
    @discardableResult
    package func noteCatalog(
        _ state: CatalogState, in folders: [Int64: FolderID], movedTo places: [FilePath: FilePath] = [:], at time: Date
    ) throws(LedgerError) -> Int {
        try write("note what the catalogue tells") { db in
            for vacation in state.vacations {
                guard let folder = folders[vacation.f] else { continue }
                try db.note(vacation, in: folder)
            }
            for share in state.shares { try db.note(share, movedTo: places, besideAnother: true) }
            var unsaved = 0
            for restore in state.restores { unsaved += try db.note(restore, at: time) }
            try db.note(state.profiles)
            return unsaved
        }
    }

    /// Notes names and merges of profiles that the catalogue of another machine has: they are the user's. What is known already
    /// stays, and nobody is asked for their numbers here.
    package func noteOthersProfiles(_ profiles: [CatalogProfile]) throws(LedgerError) {
        let told = profiles.filter { $0.name != nil || $0.into != nil }.map {
            CatalogProfile(profile: $0.profile, name: $0.name, into: $0.into, number: false)
        }
        if told.isEmpty { return }
        try write("note profiles of another machine") { try $0.note(told) }
    }

    /// Takes a share of another machine up, as its catalogue has it. The store does not tell so yet:
    /// ``noteOwnership(_:ofShare:)``.
    /// - Parameter places: where the watched folders of its machine are here, where that is another path.
    /// - Returns: `false` when there is another open share here of the same photos of the same folder.
    package func takeShareUp(_ share: CatalogShare, movedTo places: [FilePath: FilePath]) throws(LedgerError) -> Bool {
        try write("take a share over", isDurable: true) { db in
            try db.note(share, movedTo: places)
            return try db.knows(share)
        }
    }

    /// How many vacations and open shares are known.
    package func rebuiltCounts() throws(LedgerError) -> (vacations: Int, shares: Int) {
        try read("count vacations and shares") { db in
            (
                try db.total("SELECT COUNT(*) FROM vacations WHERE waiting + uploaded + failed + missing > 0"),
                try db.total("SELECT COUNT(*) FROM shares WHERE state IN ('preparing', 'waiting', 'live')")
            )
        }
    }

    /// Takes back what is known of a share's photos and its manifest does not name, and takes up what the manifest names and is
    /// not known: it was changed after that was noted. What was taken up is seen until the vacation is shared again.
    /// - Returns: how many photos the manifest names that were not known.
    package func holdShare(_ id: ShareID, against manifest: CheckedShare) throws(LedgerError) -> Int {
        let named = manifest.photos.reduce(into: [Int: SHA256Digest]()) { $0[$1.orderIndex] = $1.sha256 }
        let photos = manifest.manifest.photos.map(SeenCopy.init) + (manifest.manifest.films ?? []).map(SeenCopy.init)
        return try write("hold a share against its manifest") { db in
            guard let share = try db.number("SELECT number FROM shares WHERE id = ?", [id.description]) else {
                return 0
            }
            let rows = try db.rawRows(
                "SELECT slot, sha256 FROM share_photos WHERE share = ? AND stored_at IS NOT NULL", [share])
            let known = rows.reduce(into: [Int: Data]()) { $0[$1[0]] = $1[1] }
            let gone = known.filter { named[$0.key]?.blob != $0.value }.keys
            for slot in gone where named[slot] != nil {
                // Another copy is seen there, and has to stay.
                try db.run("DELETE FROM share_photos WHERE share = ? AND slot = ?", [share, slot])
            }
            for slot in gone where named[slot] == nil {
                try db.run(
                    """
                    UPDATE share_photos SET position = NULL, sha256 = NULL, size = NULL, width = NULL, height = NULL,
                        stored_at = NULL
                    WHERE share = ? AND slot = ?
                    """, [share, slot])
            }
            // Published without them: why, the catalogue does not tell.
            try db.run(
                """
                UPDATE share_photos SET failure = 'it could not be shared before the ledger was rebuilt'
                WHERE share = ? AND position IS NOT NULL AND stored_at IS NULL AND failure IS NULL
                """, [share])
            try db.run(
                """
                UPDATE shares SET next_slot = MAX(next_slot, ?), step = IIF(? AND step = 'done', 'clean', step)
                WHERE number = ?
                """, [(named.keys.max() ?? -1) + 1, !gone.isEmpty, share])
            let news = photos.enumerated().filter { known[$0.element.orderIndex] != named[$0.element.orderIndex]?.blob }
            for (position, photo) in news {
                guard let sha256 = named[photo.orderIndex] else { continue }
                try db.noteSeen(photo, sha256, at: position, of: share)
            }
            return news.count
        }
    }
}

/// What a manifest tells of a photo or a film.
private struct SeenCopy {
    let orderIndex: Int
    let size: Int64
    let width: Int
    let height: Int
    let takenAt: CaptureTime?
    var film: FilmType?
    var duration: Duration?
    var hasThumbnail = true

    init(_ photo: ShareManifest.Photo) {
        (orderIndex, size, takenAt) = (photo.orderIndex, photo.size, photo.takenAt)
        (width, height) = (photo.width, photo.height)
    }

    init(_ film: ShareManifest.Film) {
        (orderIndex, size, takenAt) = (film.orderIndex, film.size, film.takenAt)
        (width, height) = (film.width, film.height)
        self.film = film.mediaType
        duration = film.durationSeconds.map { .milliseconds(Int64(($0 * 1_000).rounded())) }
        hasThumbnail = film.hasPoster
    }
}

extension Database {
    /// Notes the copy of a photo of which only the manifest tells. Where neither its file nor its digest is known, what no other
    /// photo has stands in for them.
    fileprivate func noteSeen(_ photo: SeenCopy, _ sha256: SHA256Digest, at position: Int, of share: Int64) throws {
        let slot = UInt32(clamping: photo.orderIndex).bigEndian
        let digest = sha256.blob.prefix(12) + withUnsafeBytes(of: slot) { Data($0) }
        try run(
            """
            INSERT INTO share_photos (share, slot, position, md5, path, taken_at, taken_offset, sha256, size, width, height,
                stored_at, is_local, media_type, duration, has_poster)
            SELECT number, ?1, ?2, ?3, CAST(folder || '/' || id || '_' || ?1 || ?11 AS BLOB), ?4, ?5, ?6, ?7, ?8, ?9,
                created_at, 0, ?12, ?13, ?14
            FROM shares WHERE number = ?10
            ON CONFLICT (share, slot) DO UPDATE SET position = excluded.position, sha256 = excluded.sha256,
                size = excluded.size, width = excluded.width, height = excluded.height, stored_at = excluded.stored_at,
                failure = NULL, media_type = excluded.media_type, duration = excluded.duration,
                has_poster = excluded.has_poster
            """,
            [
                photo.orderIndex, position, digest, photo.takenAt?.clock, photo.takenAt?.offset, sha256.blob,
                photo.size,
                photo.width, photo.height, share, ".\(photo.film?.ending ?? "jpg")", photo.film?.rawValue,
                photo.duration?.inMilliseconds, photo.hasThumbnail,
            ])
    }

    fileprivate func note(_ vacation: CatalogVacation, in folder: FolderID) throws {
        let name = Data(vacation.vacation.path.bytes)
        let isWhole = vacation.key != nil && vacation.fingerprint != nil && vacation.manifest != nil
        try run(
            """
            UPDATE vacations SET location = ?, start_date = ?, end_date = ?, shared_by = ?, cache_key = ?,
                photo_count = ?, fingerprint = ?, manifest = ?, is_own = ?, stored_at = ?
            WHERE folder_id = ? AND name = ? AND cache_key IS NULL
            """,
            [
                vacation.location, vacation.start, vacation.end, vacation.sharedBy, isWhole ? vacation.key : nil,
                isWhole ? vacation.photos ?? 0 : nil,
                isWhole ? vacation.fingerprint.flatMap { SHA256Digest(hex: $0)?.blob } : nil,
                isWhole ? vacation.manifest.flatMap { SHA256Digest(hex: $0)?.blob } : nil,
                isWhole && vacation.own == true, isWhole ? vacation.storedAt ?? 0 : nil, folder.rawValue, name,
            ])
    }

    /// Where its folder is here; or where it was, when the same photos of that one are shared here already: two links went out.
    /// - Parameter besideAnother: whether there may be two of the same photos. Both can be seen, and have to be known to end.
    fileprivate func note(
        _ share: CatalogShare, movedTo places: [FilePath: FilePath], besideAnother: Bool = false
    ) throws {
        try note(share.moved(to: places), asTwin: false)
        if try !knows(share) { try note(share, asTwin: false) }
        if try besideAnother && !knows(share) { try note(share.moved(to: places), asTwin: true) }
    }

    fileprivate func knows(_ share: CatalogShare) throws -> Bool {
        try number("SELECT number FROM shares WHERE id = ?", [share.share]) != nil
    }

    private func note(_ share: CatalogShare, asTwin: Bool) throws {
        guard ShareID(share.share) != nil, ShareState(rawValue: share.state) != nil,
            ShareStep(rawValue: share.step) != nil, CalendarDay(share.start) != nil, CalendarDay(share.end) != nil
        else { return }
        // One that was to be published waits for its restores no more: they are asked for again.
        let state = share.state == ShareState.waiting.rawValue ? ShareState.preparing.rawValue : share.state
        let folder = Data(share.path.path.bytes)
        let twin =
            try asTwin
            ? self.number(
                "SELECT MAX(twin) + 1 FROM shares WHERE folder = ? AND selection = ? AND quality = ?",
                [folder, share.selection, share.quality]) ?? 1 : 0
        let added = try run(
            """
            INSERT INTO shares (id, folder, selection, quality, location, start_day, end_day, shared_by, created_at,
                expires_at, state, step, next_slot, published_at, page_written_at, links_end_at, ended_at,
                ended_by, tells_names, takes_guests, twin, ownership)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, NULL) ON CONFLICT DO NOTHING
            """,
            [
                share.share, folder, share.selection, share.quality, share.location, share.start,
                share.end, share.sharedBy, share.createdAt, share.expiresAt, state, share.step, share.nextSlot,
                share.publishedAt, share.pageWrittenAt, share.linksEndAt, share.endedAt, share.endedBy,
                share.names == true, share.guests == true, twin,
            ])
        guard added > 0 else { return }
        let number = lastInsertedRowID
        for photo in share.photos {
            guard let md5 = MD5Digest(hex: photo.md5) else { continue }
            let taken = photo.at.flatMap { CaptureTime($0) }
            let sha256 = photo.sha256.flatMap { SHA256Digest(hex: $0) }
            let size = photo.size.flatMap { ObjectInfo.sizes.contains($0) ? $0 : nil }
            let duration = photo.ms.flatMap { Duration(filmMilliseconds: $0) }?.inMilliseconds
            let isWhole = sha256 != nil && size != nil && photo.w != nil && photo.h != nil && photo.storedAt != nil
            // The file of it is on another disk: what is stored of it counts.
            try run(
                """
                INSERT INTO share_photos (share, slot, position, md5, path, source_key, taken_at, taken_offset, sha256,
                    size, width, height, stored_at, is_local, media_type, duration, has_poster)
                VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 0, ?, ?, ?) ON CONFLICT DO NOTHING
                """,
                [
                    number, photo.slot, photo.position, md5.blob, Data(photo.path.path.bytes), photo.key, taken?.clock,
                    taken?.offset, isWhole ? sha256?.blob : nil, isWhole ? size : nil, isWhole ? photo.w : nil,
                    isWhole ? photo.h : nil, isWhole ? photo.storedAt : nil,
                    photo.film, duration, photo.poster ?? true,
                ])
        }
    }

    private static let unsavedNote =
        "it was to be saved in a folder; which one is not known after a rebuild: restore it with --output"

    /// Items whose objects are not known are left out: nothing could be read by them.
    /// - Returns: how many of its photos were still to be saved; none of a restore that is known already.
    fileprivate func note(_ restore: CatalogRestore, at time: Date) throws -> Int {
        let known = try number(
            "SELECT id FROM restore_jobs WHERE requested_at = ? AND requested_by = ?",
            [restore.requestedAt, restore.by])
        guard known == nil, RestoreTier(rawValue: restore.tier) != nil, restore.days > 0 else { return 0 }
        try run(
            "INSERT INTO restore_jobs (requested_at, requested_by, tier, is_rush, days) VALUES (?, ?, ?, ?, ?)",
            [restore.requestedAt, restore.by, restore.tier, restore.rush, restore.days])
        let job = lastInsertedRowID
        var unsaved = 0
        for item in restore.items {
            guard RestoreTier(rawValue: item.tier) != nil, RestoreItemState(rawValue: item.state) != nil,
                try number("SELECT id FROM objects WHERE key = ?", [item.key]) != nil
            else { continue }
            let isUnsaved = item.unsaved ?? false
            let note = isUnsaved ? Self.unsavedNote : nil
            let added = try run(
                """
                INSERT INTO restore_items (job_id, key, path, size, storage_class, tier, state, requested_at, ready_at,
                    expires_at, note)
                VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING
                """,
                [
                    job, item.key, item.path.map { Data($0.path.bytes) }, item.size, item.storageClass, item.tier,
                    item.state, item.requestedAt, item.readyAt, item.expiresAt, note,
                ])
            if isUnsaved { unsaved += added }
        }
        try run(
            "DELETE FROM restore_jobs WHERE id = ?1 AND NOT EXISTS (SELECT 1 FROM restore_items WHERE job_id = ?1)",
            [job])
        if try number(
            "SELECT COUNT(*) FROM restore_items WHERE job_id = ? AND state IN ('planned', 'retrieving')", [job])
            == 0
        {
            try run("UPDATE restore_jobs SET finished_at = ?, announced = 1 WHERE id = ?", [time.milliseconds, job])
        }
        return unsaved
    }
}
