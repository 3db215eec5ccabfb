package import SyncCore
import SyncLedger
package import SystemPackage

/// Finds the vacation that a person means: by the path of its folder, the folder's name, its location, or its cache key.
package struct VacationFinder: Sendable {
    private let ledger: LedgerQueue
    private let reader: VacationReader
    private let places: RestoreSelection.Places

    /// - Parameter pool: for reading descriptions.
    package init(
        ledger: LedgerQueue, pool: BlockingPool, places: RestoreSelection.Places,
        descriptions: DescriptionSource = .disk
    ) {
        self.ledger = ledger
        self.places = places
        reader = VacationReader(ledger: ledger, pool: pool, descriptions: descriptions)
    }

    /// - Parameter name: as it is written first, then in any case, where that is only one vacation.
    /// - Throws: ``VacationLookupError``, ``VacationReadError``, ``LedgerError``, `CancellationError`.
    package func find(_ name: String) async throws -> Vacation {
        let known = try await ledger { try $0.vacations().filter(\.isKnown) }
        let record = try record(named: name, among: known)
        guard let vacation = try await reader.read(record.id), !vacation.photos.isEmpty else {
            throw VacationLookupError.empty(record.folder)
        }
        return vacation
    }

    /// The vacation in a folder, as it is now; `nil` when the ledger knows of no photo in it.
    /// - Parameter folder: absolute, as the ledger calls it (``Vacation/folder``).
    /// - Throws: ``VacationReadError``, ``LedgerError``, `CancellationError`.
    package func vacation(in folder: FilePath) async throws -> Vacation? {
        let known = try await ledger { try $0.vacations().first { $0.folder == folder && $0.isKnown } }
        guard let known else { return nil }
        return try await reader.read(known.id)
    }

    private func record(named name: String, among known: [VacationRecord]) throws(VacationLookupError) -> VacationRecord
    {
        // An empty name would be the working folder, and is a variable that was not set.
        guard !name.isEmpty else { throw .unknown(name, near: []) }
        let path = places.workingFolder.pushing(FilePath(name)).lexicallyNormalized()
        for candidate in places.candidates(path) {
            if let record = known.first(where: { $0.folder == candidate }) { return record }
        }
        for comparison in Comparison.allCases {
            for aspect in Aspect.allCases {
                let found = known.filter { record in
                    aspect.name(of: record).map { comparison.holds($0, name) } ?? false
                }
                if found.count == 1 { return found[0] }
                if found.count > 1 { throw .ambiguous(name, folders: found.map(\.folder)) }
            }
        }
        throw .unknown(name, near: NearNames(of: name, among: known.map(\.folderName)).names)
    }

    private enum Aspect: CaseIterable {
        case folderName, location, cacheKey

        func name(of record: VacationRecord) -> String? {
            switch self {
            case .folderName: record.folderName
            case .location: record.location
            case .cacheKey: record.cacheKey
            }
        }
    }

    private enum Comparison: CaseIterable {
        case exact, anyCase

        func holds(_ one: String, _ other: String) -> Bool {
            switch self {
            case .exact: one == other
            case .anyCase: one.lowercased() == other.lowercased()
            }
        }
    }
}
