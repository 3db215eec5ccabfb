package import SyncCore
package import SyncLedger
package import SyncSystem
import SystemPackage

/// Holds what others see of a share against the folder that it was made of, as that is now.
package struct ShareReview: Sendable {
    /// In photos.
    package struct Difference: Hashable, Sendable {
        /// They are in the folder, and others do not see them.
        package var added = 0
        /// They are other ones by now than those that others see.
        package var changed = 0
        /// Others see them, and they are no longer in the folder.
        package var removed = 0
        /// Others see them, and nobody knows whether they are in the folder: their drive is not there. Not in ``total``.
        package var away = 0
        /// Why, of one of them.
        package var whyAway: String?

        package var total: Int { added + changed + removed }
    }

    /// Where it is looked.
    package enum Place: Sendable {
        /// The folder itself. What the ledger does not know is read.
        /// - Parameter pool: a disk may hang.
        case disk(any TreeScanner, any PhotoReducer, BlockingPool)
        /// As the folder was seen last, without a look at any disk. What was not read yet counts as another photo.
        case ledger
    }

    private let ledger: LedgerQueue
    private let place: Place

    package init(ledger: LedgerQueue, place: Place) {
        self.ledger = ledger
        self.place = place
    }

    /// Of every share that can be seen, by how many photos it differs from its folder; those are left out of which that
    /// cannot be told, such as one whose folder is not there.
    /// - Throws: ``LedgerError``, `CancellationError`.
    package func liveShares() async throws -> [ShareID: Difference] {
        var differences: [ShareID: Difference] = [:]
        for share in try await ledger({ try $0.unendedShares() }) where share.state == .live {
            differences[share.id] = try await difference(of: share)
        }
        return differences
    }

    /// - Returns: `nil` where it cannot be told.
    func difference(of share: ShareRecord) async throws -> Difference? {
        let shown = try await ledger { try $0.sharePhotos(share.id) }.filter { $0.position != nil }
        guard let files = try await files(of: share.folder) else { return nil }
        var there: [FilePath: MD5Digest?] = [:]
        for file in files where !UnitName.isSidecar(file.path.lastComponent) {
            switch try await picture(file) {
            case .none: continue
            case .unread: there[file.path] = MD5Digest?.none
            case .picture(let md5): there[file.path] = md5
            }
        }
        if share.selection == nil {
            // One that others see all the same was chosen when it stood for itself.
            let seen = Set(shown.map(\.path))
            let companions = PhotoUnit.companions(among: files.map(\.path)) { there.keys.contains($0) }
            for path in companions.subtracting(seen) { there[path] = nil }
        }
        let isSelection = share.selection != nil
        let difference = Self.compare(shown, with: there, isSelection: isSelection)
        guard difference.removed > 0 else { return difference }
        let unseen = shown.map(\.path).filter { !there.keys.contains($0) }
        let reasons = try await whyAway(unseen, around: share.folder)
        return Self.compare(shown, with: there, isSelection: isSelection) { reasons[$0] }
    }

    /// Why files that are not seen may be there all the same. Nothing is told where no watched folder is around them,
    /// and where no disk is looked at.
    private func whyAway(_ files: [FilePath], around folder: FilePath) async throws -> [FilePath: String] {
        guard case .disk(let scanner, _, let pool) = place,
            let record = try await ledger({ try $0.watchedFolder(above: folder) })
        else { return [:] }
        return try await pool.run { [ledger = ledger.ledger] in
            let findings = try FolderPresence(ledger: ledger, scanner: scanner).check(record)
            var reasons: [FilePath: String] = [:]
            for file in files { reasons[file] = try findings.whyAway(file.relative(to: record.path)) }
            return reasons
        }
    }

    /// - Returns: `nil` where nothing can be concluded: the folder is not there, or was deleted here as a whole, so that it
    ///   is shared as it is stored.
    private func files(of folder: FilePath) async throws -> [FolderSnapshot.File]? {
        guard case .disk(let scanner, _, let pool) = place else {
            return try await ledger { ledger in
                guard let record = try ledger.vacation(in: folder), record.isOnDisk else { return nil }
                return try ledger.files(of: record).filter(\.state.isOnDisk).map {
                    FolderSnapshot.File(path: $0.path, known: $0)
                }
            }
        }
        do {
            let read = try await FolderSnapshot.take(at: folder, scanner, ledger: ledger, pool: pool)
            let wasThere = try await ledger { try $0.vacation(in: folder)?.isOnDisk ?? false }
            guard let files = read.files, wasThere || files.contains(where: { $0.known == nil }) else { return nil }
            return files
        } catch is ScanError {
            return nil
        }
    }

    private enum Picture {
        /// Nothing that would be shared.
        case none
        case unread
        case picture(MD5Digest)
    }

    private func picture(_ file: FolderSnapshot.File) async throws -> Picture {
        if let known = file.known {
            if known.state == .skipped || known.state == .failed { return .none }
            if let object = known.object, let md5 = known.md5 {
                return MediaType.isShared(object.contentType) ? .picture(md5) : .none
            }
        }
        guard case .disk(_, let reducer, let pool) = place else {
            return file.path.lastComponent?.string == VacationDescription.fileName ? .none : .unread
        }
        do {
            let examined = try await pool.run { try reducer.examine(file.path) }
            return MediaType.isShared(examined.type.name) ? .picture(examined.digest.md5) : .none
        } catch is PhotoError {
            return .none
        }
    }

    /// - Parameters:
    ///   - there: the photos in the folder, with the MD5 of those that were read.
    ///   - whyAway: why a file that is not seen may be there all the same.
    private static func compare(
        _ shown: [SharePhoto], with there: [FilePath: MD5Digest?], isSelection: Bool,
        whyAway: (FilePath) -> String? = { _ in nil }
    ) -> Difference {
        var difference = Difference()
        let contents = Set(there.values.compactMap(\.self))
        var replacing: Set<FilePath> = []
        for photo in shown where !contents.contains(photo.md5) && photo.failure == nil {
            if there.keys.contains(photo.path) {
                difference.changed += 1
                replacing.insert(photo.path)
            } else if let reason = whyAway(photo.path) {
                difference.away += 1
                difference.whyAway = difference.whyAway ?? reason
            } else {
                difference.removed += 1
            }
        }
        // Whoever has chosen some photos has not chosen the new ones.
        if isSelection { return difference }
        let seen = Set(shown.filter { $0.failure == nil || $0.isFinal }.map(\.md5))
        let others = there.filter { !replacing.contains($0.key) }.values
        let new = Set(others.compactMap(\.self)).subtracting(seen)
        difference.added = new.count + others.count { $0 == nil }
        return difference
    }
}
