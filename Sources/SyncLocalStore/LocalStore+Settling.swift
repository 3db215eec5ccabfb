import SyncCore
import SystemPackage

/// What a commit owes until its folders are synced.
///
/// A rename is seen at once, and is on the disk when its folder is synced. In between a sync may fail, or the process may
/// be killed: whoever looks then sees an object that a power failure can take away. So each commit leaves a note in
/// `staging/` (a second name of the record) that is removed after the sync. Nothing is called stored, or gone, while its
/// key has a note: the folders are synced first, by whichever process comes to it.
extension LocalStore {
    /// Leaves the note. The key is locked and settled.
    /// - Parameter path: where the record lies.
    func note(_ path: FilePath, _ record: ObjectRecord, as key: ObjectKey) throws {
        let note = layout.unsettled(key)
        do throws(FileError) {
            try Disk.remove(note)
            try Disk.link(path, to: note)
        } catch {
            guard error.meansNoLinks else { throw error }
            try Disk.write(record.json(), to: note)
        }
    }

    /// Makes up for what an earlier commit of the key owes. The key need not be locked.
    /// - Returns: whether something was made up for: what was read of the key before may be otherwise now.
    @discardableResult
    func settleIfOwed(_ key: ObjectKey) throws -> Bool {
        guard try Disk.exists(layout.unsettled(key)) else { return false }
        do {
            try locked(key) { try settle(key) }
            return true
        } catch let error as FileError where error.errno == .readOnlyFileSystem || error.call == "unlink" {
            // Nobody can change anything there, or bytes that are nobody's any more cannot be removed now: to readers that
            // is nothing. What was not written before the disk became read-only fails here.
            try syncFolders(above: layout.record(for: key), below: layout.records)
            if let record = try lookup(key).object {
                try syncFolders(above: layout.content(record), below: layout.objects)
            }
            return false
        }
    }

    /// As ``settleIfOwed(_:)``, for a key that is locked.
    func settle(_ key: ObjectKey) throws {
        let note = layout.unsettled(key)
        guard try Disk.exists(note) else { return }
        let path = layout.record(for: key)
        try syncFolders(above: path, below: layout.records)
        let found = try lookup(key)
        if let record = found.object { try syncFolders(above: layout.content(record), below: layout.objects) }
        // What is noted and not named any more was deleted, or never committed.
        if !found.isUnreadable, let json = try Disk.read(note), let noted = ObjectRecord(json: json),
            noted.key == key.rawValue, noted.file != found.object?.file
        {
            try removeContent(noted)
        }
        if found.isAbsent { Disk.prune(path.removingLastComponent(), upTo: layout.records) }
        try Disk.remove(note)
    }
}

extension FileError {
    /// The file system has no hard links, or this file has as many as it may have.
    fileprivate var meansNoLinks: Bool {
        call == "link"
            && [.notPermitted, .notSupported, .notSupportedOnSocket, .noFunction, .tooManyLinks].contains(errno)
    }
}
