import FoundationEssentials
package import SyncCore
import SyncSystem
import SystemPackage

extension LocalStore {
    /// Archived objects are removed like others.
    package func delete(_ key: ObjectKey) async throws {
        try await perform("delete", key.rawValue) { store, _ in
            try store.locked(key) {
                try store.settle(key)
                switch try store.lookup(key) {
                case .absent: try store.requireRoot("delete")
                case .object(let record): try store.remove(key, store.layout.content(record))
                // Which file it named is lost: the one of the plain name, where that can be no other key's.
                case .unreadable:
                    try store.remove(key, store.ownsPlainNames ? store.plainContent(of: key) : nil)
                // There is nothing of this key.
                case .taken: break
                }
            }
        }
    }

    /// The record becomes the note of what is owed, by one rename: until its folder is synced, and the bytes are gone,
    /// `staging/` names them.
    private func remove(_ key: ObjectKey, _ content: FilePath?) throws {
        let path = layout.record(for: key)
        try requireSameStore("delete")
        try Disk.rename(path, to: layout.unsettled(key))
        try syncFolders(above: path, below: layout.records)
        try onStep(.deleted)
        if let content {
            do {
                try removeContent(content)
            } catch let error as FileError where error.isOfRemoval {
                takeBackDeletion(of: key, content)
                throw error
            }
        }
        Disk.prune(path.removingLastComponent(), upTo: layout.records)
        try Disk.remove(layout.unsettled(key))
    }

    /// Bytes that cannot be removed (chattr +i, a folder that may not be written to) are still the object that they were:
    /// without its record nobody would be told of them again, and whoever looks would take them for deleted.
    private func takeBackDeletion(of key: ObjectKey, _ content: FilePath) {
        let (note, path) = (layout.unsettled(key), layout.record(for: key))
        guard let json = try? Disk.read(note, atMost: CommitRecord.maximumSize), let record = CommitRecord(json: json),
            let stamp = try? Disk.stamp(content), stamp.size == record.size,
            (try? Disk.rename(note, to: path)) != nil
        else { return }
        try? syncFolders(above: path, below: layout.records)
    }

    private func plainContent(of key: ObjectKey) -> FilePath? {
        var path = layout.objects
        for segment in key.segments {
            guard let name = ContentName.plain(segment) else { return nil }
            path.append(name)
        }
        return path
    }

    package func removeLeftovers() async throws {
        try await perform("tidy") { store, _ in try store.sweep() }
    }

    /// Seconds since the last change of an entry in `staging/` after which its writer is taken for dead. Should it
    /// live (the machine slept), its put fails and is tried again: entries are judged under the key's lock.
    static let sweepAge: Double = 3_600

    /// Clears what crashes have left behind: syncs that are owed are made up, and the old entries of `staging/` go, with the
    /// files that only they name. What fails is left for the next time, and what is nobody's of the store for good.
    func sweep() throws {
        _ = try Disk.forEachName(in: layout.staging) { name in
            if StoreLayout.isStaged(name) { try? sweep(name) }
        }
    }

    private func sweep(_ name: String) throws {
        let path = layout.staging.appending(name)
        guard let stamp = try Disk.status(path)?.stamp else { return }
        let isNote = name.hasSuffix(StoreLayout.unsettledSuffix)
        guard isNote || isOld(stamp) else { return }
        if name.hasSuffix(".json"), let json = try Disk.read(path, atMost: CommitRecord.maximumSize),
            let record = CommitRecord(json: json)
        {
            try removeUnlessLive(record)
            if isNote { return }
        }
        // A record that cannot be read was never synced, so its bytes were never moved: there is no more to it.
        if isOld(stamp) { try Disk.remove(path) }
    }

    private func isOld(_ stamp: FileStamp) -> Bool {
        now().timeIntervalSince1970 - Double(stamp.modified / 1_000_000_000) > Self.sweepAge
    }

    private func removeUnlessLive(_ staged: CommitRecord) throws {
        guard let key = try? ObjectKey(staged.key) else { return }
        try locked(key) {
            // First what is owed: the bytes of a version before may be removed only when the one after it is on the disk.
            try settle(key)
            let found = try lookup(key)
            guard found.isOfKey else { return }
            if found.object?.file != staged.file { try removeContent(staged) }
            if found.isAbsent { Disk.prune(layout.record(for: key).removingLastComponent(), upTo: layout.records) }
        }
    }
}
