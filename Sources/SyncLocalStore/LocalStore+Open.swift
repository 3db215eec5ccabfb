import FoundationEssentials
import SyncCore
import SystemPackage

extension LocalStore {
    /// Makes what is missing and clears leftovers, once. Two threads that come first may both do it, as two processes may.
    func prepare(_ operation: String) throws {
        if isPrepared.withLock({ $0 }) { return }
        let marker = try readMarker()
        if let marker {
            guard marker.format == StoreMarker.current.format else {
                throw StoreError(
                    .unsupported, operation: operation,
                    message: "\(layout.marker) has format \(marker.format), and this version of sync-agent "
                        + "knows format \(StoreMarker.current.format): use a newer one")
            }
        } else {
            try makeRoot(operation)
        }
        // A store on a read-only disk can be read; a put will tell.
        do {
            try makeFolders()
            if marker == nil { try writeMarker() }
            try sweep()
        } catch let error as FileError where marker != nil && error.isReadOnly {}
        isPrepared.withLock { $0 = true }
    }

    /// Tells "nothing is stored there" from "the disk is gone": called wherever something was not found.
    func requireRoot(_ operation: String) throws {
        guard try Disk.exists(layout.marker) else {
            throw StoreError(
                .storeMissing, operation: operation,
                message: "\(layout.marker) is gone: mount the disk that holds the store, or correct store.path")
        }
    }

    private func makeRoot(_ operation: String) throws {
        guard try !Disk.exists(layout.root) else { return }
        let parent = layout.root.removingLastComponent()
        guard createsRoot, try Disk.exists(parent) else {
            throw StoreError(
                .storeMissing, operation: operation,
                message: createsRoot
                    ? "\(parent) does not exist: mount the disk that the store is on, or create that folder"
                    : "\(layout.root) does not exist although objects are stored in it: mount its disk, or correct "
                        + "store.path")
        }
        try Disk.makeFolder(layout.root)
        try Disk.syncFolder(parent)
    }

    private func makeFolders() throws {
        var isNew = false
        for folder in layout.folders where try Disk.makeFolder(folder) { isNew = true }
        if isNew { try Disk.syncFolder(layout.root) }
    }

    private func readMarker() throws -> StoreMarker? {
        guard let bytes = try Disk.read(layout.marker) else { return nil }
        do {
            return try JSONDecoder().decode(StoreMarker.self, from: Data(bytes))
        } catch {
            throw FileError(call: "parse", path: layout.marker, errno: .ioError)
        }
    }

    private func writeMarker() throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        let staged = layout.staging.appending("marker-\(hexID())")
        try Disk.write(try Array(encoder.encode(StoreMarker.current)), to: staged)
        try Disk.rename(staged, to: layout.marker)
        try Disk.syncFolder(layout.root)
    }

    /// 16 hexadecimal digits.
    func hexID() -> String {
        let digits = String(makeID(), radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }
}

/// `sync-agent-store.json`.
struct StoreMarker: Codable {
    var format: Int
    var about: String

    static let current = StoreMarker(
        format: 1,
        about: "A store of sync-agent. objects/ holds the files under their names; records/ says what they are. "
            + "Copy from it freely; do not rename, change or remove anything in it.")
}
