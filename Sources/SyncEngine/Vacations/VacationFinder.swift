package import SyncCore
package import SyncLedger
package import SyncSystem
package import SystemPackage

/// Finds the vacation that a person means: by the path of its folder, the folder's name, its location, or its cache key.
package struct VacationFinder: Sendable {
    private let ledger: LedgerQueue
    private let reader: VacationReader
    private let places: RestoreSelection.Places
    private let scanner: any TreeScanner
    private let pool: BlockingPool

    /// - Parameter pool: for reading descriptions, and looking at folders.
    package init(
        ledger: LedgerQueue, pool: BlockingPool, places: RestoreSelection.Places, scanner: any TreeScanner,
        descriptions: DescriptionSource = .disk
    ) {
        self.ledger = ledger
        self.places = places
        self.scanner = scanner
        self.pool = pool
        reader = VacationReader(ledger: ledger, pool: pool, descriptions: descriptions)
    }

    /// - Parameter name: as it is written first, then in any case, where that is only one vacation.
    /// - Throws: ``VacationLookupError``, ``VacationReadError``, ``LedgerError``, `CancellationError`.
    package func find(_ name: String) async throws -> Vacation {
        let record = try await record(named: name)
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

    /// The folder of the vacation that a person means: also one that was never looked at.
    /// - Throws: ``VacationLookupError``, ``LedgerError``, `CancellationError`.
    package func folder(named name: String) async throws -> FilePath {
        do {
            return try await record(named: name).folder
        } catch let error as VacationLookupError {
            guard case .unknown = error, let folder = try await unseenFolder(named: name) else { throw error }
            return folder
        }
    }

    /// A folder that is one of a vacation by its place, and that the ledger does not know.
    private func unseenFolder(named name: String) async throws -> FilePath? {
        guard !name.isEmpty else { return nil }
        let path = places.workingFolder.pushing(FilePath(argument: name)).lexicallyNormalized()
        let named = places.candidates(path).filter { places.vacationRoots.contains($0.removingLastComponent()) }
        let component = FilePath.Component(bytes: RawText.bytes(of: name)).flatMap { $0.kind == .regular ? $0 : nil }
        let folders = named + (component.map { name in places.vacationRoots.map { $0.appending(name) } } ?? [])
        return try await pool.run { [scanner] in folders.first { scanner.isFolder($0) } }
    }

    private func record(named name: String) async throws -> VacationRecord {
        try await ledger { [places] in
            try VacationNames(known: $0.vacations().filter(\.isKnown), places: places).record(named: name)
        }
    }
}

/// The one place that tells which vacation is meant by what a person writes: the path of its folder, the folder's name,
/// its location, or its cache key.
struct VacationNames {
    let known: [VacationRecord]
    let places: RestoreSelection.Places

    /// - Parameter name: as it is written first, then in any case, where that is only one vacation.
    func record(named name: String) throws(VacationLookupError) -> VacationRecord {
        // An empty name would be the working folder, and is a variable that was not set.
        guard !name.isEmpty else { throw .unknown(name, near: []) }
        let path = places.workingFolder.pushing(FilePath(argument: name)).lexicallyNormalized()
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
