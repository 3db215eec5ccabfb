import FoundationEssentials
import SyncCore
import SyncSystem
import SystemPackage

extension LocalStore {
    /// Opens the store, and makes what is missing and clears leftovers where that is allowed, once. Two threads that come
    /// first may both do it, as two processes may. Afterwards it sees that it is still the same store.
    func prepare(_ operation: String) throws {
        if knownMarker.withLock({ $0 }) != nil { return try requireSameStore(operation) }
        var marker = try readMarker(operation)
        if marker == nil { try found(operation) }
        if access != .reads {
            // A store on a read-only disk can be read; a put will tell.
            do {
                try makeFolders()
                if marker?.id == nil { marker = try writeMarker(operation) }
                try? sweep()
            } catch let error as FileError where marker != nil && error.isReadOnly {}
        }
        guard let marker, let stamp = try Disk.status(layout.marker)?.stamp else { throw isAway(operation) }
        try bind(to: marker, operation)
        knownMarker.withLock { $0 = KnownMarker(id: marker.id, stamp: stamp) }
    }

    /// Tells "nothing is stored there" from "the disk is gone": called wherever something was not found.
    func requireRoot(_ operation: String) throws {
        guard try Disk.exists(layout.marker) else { throw isAway(operation) }
    }

    /// Before the folder is made: whether this may be the first use of the first store.
    private func found(_ operation: String) throws {
        if try remembered(operation, { try $0.knowsStore() }) == true {
            throw StoreError(
                .storeMissing, operation: operation,
                message:
                    "\(layout.root) is not the store that this ledger knows; mount the drive that the store is on, "
                    + "or correct store.path. Where the store is lost, move the ledger away: a new store is made, and "
                    + "everything is stored again")
        }
        guard access == .founds else {
            throw StoreError(
                .storeMissing, operation: operation,
                message: "\(layout.root): the store is not there yet; the first sync makes it")
        }
        let parent = layout.root.removingLastComponent()
        guard try Disk.exists(parent) else {
            throw StoreError(
                .storeMissing, operation: operation,
                message: "\(parent) does not exist; mount the disk that the store is on, or create that folder")
        }
        let isNew = try Disk.makeFolder(layout.root)
        do {
            try syncFolder(parent)
        } catch let error as FileError where !isNew && error.isReadOnly {
            // Somebody else made the folder, in one that we may not read.
        }
    }

    private func makeFolders() throws {
        for folder in layout.folders { try Disk.makeFolder(folder) }
        // Also for those, and for a marker, that an earlier process made and did not get to sync.
        try syncFolder(layout.root)
    }

    private func readMarker(_ operation: String) throws -> StoreMarker? {
        guard let bytes = try Disk.read(layout.marker, atMost: StoreMarker.maximumSize) else { return nil }
        do {
            return try StoreMarker(parsing: bytes)
        } catch .unreadable {
            throw StoreError(
                .storeMissing, operation: operation,
                message: "\(layout.marker) cannot be read, so that nobody knows which store this is; check the disk")
        } catch .format(let format) {
            throw StoreError(
                .unsupported, operation: operation,
                message: "\(layout.marker) has format \(format), and this version of sync-agent "
                    + "knows format \(StoreMarker.format); use a newer one")
        }
    }

    /// Gives the store its id: a new one, or one that an earlier version made. Of two processes the first one decides.
    private func writeMarker(_ operation: String) throws -> StoreMarker {
        let lock = try OpenFile(layout.locks.appending("marker"), .lock)
        try lock.lock()
        defer { lock.unlock() }
        if let marker = try readMarker(operation), marker.id != nil { return marker }
        // A store that is known by an id, and one without: they are two.
        if let known = try remembered(operation, { try $0.storeID() }) ?? nil {
            throw isAnother(nil, than: known, operation)
        }
        let marker = StoreMarker(id: StoreMarker.makeID(), about: Self.about)
        let staged = layout.staging.appending("marker-\(hexID())")
        do {
            try Disk.write(try marker.encoded(), to: staged)
            try Disk.rename(staged, to: layout.marker)
        } catch {
            try? Disk.remove(staged)
            throw error
        }
        try syncFolder(layout.root)
        return marker
    }

    private static let about =
        "A store of sync-agent. objects/ holds the files under their names; records/ says what they are. "
        + "Copy from it freely; do not rename, change or remove anything in it."

    /// 16 hexadecimal digits.
    func hexID() -> String { UInt64.random(in: .min ... .max).padded(to: 16, radix: 16) }
}

// MARK: - Which store it is

extension LocalStore {
    package func ownID() async throws -> String? {
        try await pool.run { [self] in
            try readMarker("open")?.id
        }
    }

    /// Sees that the folder is still the store that was opened: one lstat(2), as long as nothing has changed.
    /// - Throws: `.storeMissing` when its disk is gone, or another store is in its place.
    func requireSameStore(_ operation: String) throws {
        guard let known = knownMarker.withLock({ $0 }) else { return }
        guard let stamp = try Disk.status(layout.marker)?.stamp else { throw isAway(operation) }
        if stamp == known.stamp { return }
        guard let marker = try readMarker(operation) else { throw isAway(operation) }
        // Another process may have given an id to a store without one.
        if let id = known.id, marker.id != id { throw isAnother(marker.id, than: id, operation) }
        try bind(to: marker, operation)
        knownMarker.withLock { $0 = KnownMarker(id: marker.id, stamp: stamp) }
    }

    /// What only looks at a store does not decide that it is the right one.
    private func bind(to marker: StoreMarker, _ operation: String) throws {
        if let id = marker.id, access != .reads {
            let bound = try remembered(operation) { try $0.bindStoreID(id) } ?? id
            if bound != id { throw isAnother(id, than: bound, operation) }
        } else if let known = try remembered(operation, { try $0.storeID() }) ?? nil, known != marker.id {
            throw isAnother(marker.id, than: known, operation)
        }
    }

    private func remembered<Value>(
        _ operation: String, _ ask: (any StoreIDKeeper) throws -> Value
    ) throws(StoreError) -> Value? {
        do {
            return try memory.map(ask)
        } catch {
            throw StoreError(
                .serverFailed, operation: operation, message: "nobody knows which store this is to be: \(error)")
        }
    }

    private func isAway(_ operation: String) -> StoreError {
        StoreError(
            .storeMissing, operation: operation,
            message: "\(layout.marker) is gone; mount the disk that holds the store, or correct store.path")
    }

    private func isAnother(_ id: String?, than known: String, _ operation: String) -> StoreError {
        StoreError(
            .storeMissing, operation: operation,
            message:
                "\(layout.root) is another store (\(id?.escapingControls ?? "without an id")) than the one that this "
                + "ledger knows (\(known)); mount the drive that holds that one, or correct store.path. Where the change is "
                + "meant, sync-agent move-store --adopt looks at what this one has")
    }
}

/// The marker as a process knows it.
struct KnownMarker: Sendable {
    /// `nil` in a store of an earlier version that was only read.
    let id: String?
    /// Tells one file from another, also on a drive that has the device number of the one before.
    let stamp: FileStamp
}
