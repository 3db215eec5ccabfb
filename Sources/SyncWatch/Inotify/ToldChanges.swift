import SyncCore
import SystemPackage

/// What was told lately of one root's changes, to find out whether a file that a scan has come upon was told of.
///
/// Bounded: beyond ``limit`` paths it forgets all, and knows nothing of what changed before that.
struct ToldChanges {
    static let limit = 4_096

    /// Nanoseconds since 1970, as are all times here. Of what changed before, nothing is known.
    private var since: Int64
    /// By the hash of a path, when it was told last. Two paths with one hash: then a file counts as told that was not.
    private var times: [Int: Int64] = [:]

    init(since: Int64) {
        self.since = since
    }

    mutating func note(_ hints: [ChangeHint], at now: Int64) {
        guard times.count + hints.count <= Self.limit else {
            self = Self(since: now)
            return
        }
        for hint in hints { times[hint.path.hashValue] = now }
    }

    /// Whether a file's appearance was told, or may have been.
    ///
    /// A hint for the file counts whenever it came: a link that is made or removed elsewhere changes its ctime, and is not
    /// told. One for a folder above counts for what was in it by then.
    func explains(_ file: AppearedFile, below root: FilePath) -> Bool {
        if file.changed <= since { return true }
        var path = root.pushing(file.path)
        if times[path.hashValue] != nil { return true }
        while path != root, path.removeLastComponent() {
            if let told = times[path.hashValue], told >= file.changed { return true }
        }
        return false
    }
}
