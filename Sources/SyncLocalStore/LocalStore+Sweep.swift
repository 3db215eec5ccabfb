import FoundationEssentials
import Glibc
import SyncCore
import SystemPackage

extension LocalStore {
    package func tidy() async throws {
        try await perform("tidy") { store, _ in try store.sweep() }
    }

    /// Seconds since the last change of an entry in `staging/` after which its writer is taken for dead. Should it
    /// live (the machine slept), its put fails and is tried again: entries are judged under the key's lock.
    static let sweepAge: Double = 3_600

    /// Clears what crashes have left behind: the old entries of `staging/`, and the files that only they name.
    func sweep() throws {
        guard let reader = try FolderReader(layout.staging) else { return }
        while let name = try reader.next() {
            let path = layout.staging.appending(name)
            guard let status = try Disk.status(path), isOld(status) else { continue }
            if name.hasSuffix(".json"), let json = try Disk.read(path), let record = ObjectRecord(json: json) {
                try removeUnlessLive(record)
            }
            // A record that cannot be read was never synced, so its bytes were never moved: there is no more to it.
            try Disk.remove(path)
        }
    }

    private func isOld(_ status: stat) -> Bool {
        now().timeIntervalSince1970 - Double(status.st_mtim.tv_sec) > Self.sweepAge
    }

    private func removeUnlessLive(_ staged: ObjectRecord) throws {
        guard let key = try? ObjectKey(staged.key) else { return }
        try locked(key) {
            if try record(key, "check")?.file != staged.file { removeContent(staged) }
            Disk.prune(layout.record(for: key).removingLastComponent(), upTo: layout.records)
        }
    }
}
