import SyncCore
import SyncLedger
import SyncSystem
import SystemPackage

/// Puts together what the ledger and the disk know of a vacation.
struct VacationReader: Sendable {
    private let ledger: LedgerQueue
    private let pool: BlockingPool
    private let descriptions: DescriptionSource
    private let zone: MachineZone

    /// - Parameter pool: for reading descriptions.
    init(
        ledger: LedgerQueue, pool: BlockingPool, descriptions: DescriptionSource, zone: MachineZone = .current
    ) {
        self.zone = zone
        self.ledger = ledger
        self.pool = pool
        self.descriptions = descriptions
    }

    /// - Returns: `nil` when there is no such vacation, or nobody knows a date of it.
    /// - Throws: ``VacationReadError``, ``LedgerError``, `CancellationError`.
    func read(_ id: VacationID) async throws -> Vacation? {
        guard let content = try await ledger({ try $0.vacationContent(id) }) else { return nil }
        return try await read(content)
    }

    func read(_ content: VacationContent) async throws -> Vacation? {
        let record = content.record
        // What is gone was described when it was there.
        let description =
            record.isOnDisk
            ? try await pool.run { [descriptions] in try descriptions.read(record.folder) } : VacationDescription()
        var photos = content.photos.filter { photo in
            record.isOnDisk
                ? photo.isStored && photo.state.isOnDisk || photo.state == .pending || photo.state == .uploading
                : content.holds(photo)
        }
        let offsets = CaptureOffsets(photos.compactMap(\.takenAt))
        photos = photos.map { (VacationOrder(takenAt: $0.takenAt, name: $0.name, offsets: offsets), $0) }
            .sorted { $0.0 < $1.0 }.map(\.1)
        // Where nothing can be stored, the files that failed still have their dates.
        let dated = photos.isEmpty ? content.photos : photos
        let resolved = VacationDetails(
            name: VacationName(record.folderName), description: description,
            photoDays: VacationDetails.photoDays(
                taken: dated.compactMap(\.takenAt), modified: dated.map(\.modified), zone: zone))
        // A second copy of a photo that is gone shows the same.
        let onDisk = Set(content.photos.filter(\.state.isOnDisk).compactMap(\.md5))
        let gone = content.photos.count { photo in
            !photo.state.isOnDisk && photo.md5.map { !onDisk.contains($0) } ?? true
        }
        let details = record.isOnDisk ? resolved : record.lookedDetails ?? resolved
        return details.map {
            Vacation(
                id: record.id, folder: record.folder, details: $0, photos: photos, failed: record.failed,
                failures: content.photos.filter { $0.state == .failed }.sorted { $0.name < $1.name },
                gone: record.isOnDisk ? gone : photos.count, problems: description.problems, revision: record.revision)
        }
    }
}

extension VacationContent {
    /// Whether a photo that is gone from the disk belonged to the vacation when it was stored last.
    func holds(_ photo: VacationPhoto) -> Bool {
        guard !photo.state.isOnDisk else { return false }
        return record.stored == nil || photo.md5.map(storedPhotos.contains) ?? false
    }
}
