package import FoundationEssentials
package import SyncCore
import SyncSystem
package import SystemPackage

/// The embedded store: a folder on a disk that keeps the promises of ``ObjectStore``. No server, no account.
///
/// ```
/// ROOT/sync-agent-store.json              says that this folder is a store, and the format's version
/// ROOT/objects/users/ana/photos/….dat     the bytes, under the object's key: for people and their programs
/// ROOT/records/users/ana/photos/….dat~.json   what is known of the object, and which file below objects/ holds it
/// ROOT/staging/                           what a put or delete is about to do
/// ROOT/locks/                             256 files that processes lock
/// ```
///
/// **The record is the object**, and its bytes are the proof: an object whose file is gone is none, and one whose file is
/// another one than was stored is told as it is, and may be replaced. Readers go through the record; a file in `objects/` that no record names is nothing. A put
/// writes the bytes to `staging/`, syncs them, moves them to a name in `objects/` that nothing uses yet, syncs that
/// folder, and then renames the finished record into `records/`: that one rename(2) is the commit of bytes and
/// attributes together. A delete is the reverse: the record is renamed back into `staging/`. Restores and changes of class
/// write a new record and rename it in the same way; the bytes stay. Power may fail at any point. Small objects that
/// come together take these steps together, and share the syncs of folders (``PutGroup``).
///
/// **Leftovers.** The record lies in `staging/` while its bytes are moved, so that whatever a crash leaves is named
/// there, also syncs that are owed (`…-unsettled.json`). The first use of a store by a later process makes them up, goes
/// through the entries that are older than an hour and removes files that no record names. It never judges a file that
/// `staging/` does not name.
///
/// **Names.** A file in `objects/` has the key as its path with `%` and `~` percent-encoded. Where that name is taken
/// (by a folder, since keys may be `a` and `a/b`) or longer than the file system takes, it is `stem~XXXXXXXX.ext`. So it
/// is for a moment while a version is replaced: the new one gets the plain name by a second commit, after its own. Names in `records/` are a function of the key alone: see ``RecordPath``.
/// Both need a disk that tells capitals apart: on one that does not, a record is only that of the key in it.
///
/// **Several processes** may use a store at once: a key's check-and-commit is done under flock(2) on one of the lock
/// files. On a network file system that needs working locks.
///
/// **Which store it is** says the marker's id. Each operation first sees that the marker is still the one that was read: a
/// disk that is unmounted, or another one in its place, is neither written to nor believed.
///
/// All file calls are made on threads of the store's own.
package final class LocalStore: ObjectStore {
    let layout: StoreLayout
    let now: @Sendable () -> Date
    let restoreDuration: Duration
    let access: LocalStoreAccess
    let memory: (any StoreIDKeeper)?
    let onStep: @Sendable (LocalStoreStep) throws -> Void
    let capitalsProbe: @Sendable (FilePath) throws -> Bool
    let windowCapacity: Int
    let pool: BlockingPool
    /// The marker as it was read last; `nil` before the first use.
    let knownMarker = Lock<KnownMarker?>(nil)
    let syncedFolders = Lock(SyncedFolders())
    let listing = Lock<FolderWindow?>(nil)
    let smallPuts = Lock(SmallPutQueue())

    /// Touches nothing: the store is opened on first use.
    /// - Parameters:
    ///   - root: absolute. Its parent must exist; the folder itself is made (mode 0700) on first use.
    ///   - restoreDuration: how long an archived object takes to come back, whatever its class and the tier.
    ///   - access: what may be made where it is missing.
    ///   - memory: knows which store it is to be, and learns it from the first.
    ///   - threads: operations that may be under way at once.
    ///   - windowCapacity: entries of one folder that a listing keeps in memory.
    ///   - capitalsProbe: whether a folder ignores capitals; throws `Errno`. For tests, as the next one.
    ///   - onStep: called between the steps of what writes; what it throws fails them. For tests.
    package init(
        root: FilePath, now: @escaping @Sendable () -> Date, restoreDuration: Duration,
        access: LocalStoreAccess = .founds, memory: (any StoreIDKeeper)? = nil, threads: Int = 4,
        windowCapacity: Int = FolderWindow.defaultCapacity,
        capitalsProbe: @escaping @Sendable (FilePath) throws -> Bool = { try $0.ignoresCapitals() },
        onStep: @escaping @Sendable (LocalStoreStep) throws -> Void = { _ in }
    ) {
        layout = StoreLayout(root: root)
        self.now = now
        self.restoreDuration = restoreDuration
        self.access = access
        self.memory = memory
        self.windowCapacity = windowCapacity
        self.capitalsProbe = capitalsProbe
        self.onStep = onStep
        pool = BlockingPool(name: "local-store", threads: threads, lendingAfter: SignOfLife.patience)
    }

    package var identity: StoreIdentity {
        StoreIdentity(type: "directory", location: layout.root.string)
    }

    /// It keeps no rules: the agent carries them out by itself.
    package var capabilities: StoreCapabilities {
        StoreCapabilities(
            lifecycle: .byAgent, restoresInLists: true, digestsInLists: true, links: false,
            restoreDuration: restoreDuration, largestGrouped: SmallPutQueue.largestBody)
    }

    package func close() async { await pool.shutDown() }

    /// Opens the store, or makes it, and sees that its folders can be written to.
    /// - Throws: `.storeMissing`, `.accessDenied`, `.noSpace`, `.unsupported` (made by a newer version).
    package func check() async throws {
        try await perform("check") { store, _ in
            try store.requireRoot("check")
            for folder in store.layout.folders {
                try Disk.requireWritable(folder)
            }
        }
    }

    /// Runs one operation on a thread of the store's, with the store open, and turns failed file calls into
    /// ``StoreError``.
    func perform<Value: Sendable>(
        _ operation: String, _ key: String? = nil,
        _ work: @escaping @Sendable (LocalStore, CancellationFlag) throws -> Value
    ) async throws -> Value {
        try await pool.runChecking { [self] flag in
            do {
                try prepare(operation)
                return try work(self, flag)
            } catch let error as FileError {
                throw StoreError(error, operation: operation, key: key)
            }
        }
    }

    /// Runs `body` while no other thread or process changes what is stored under `key`.
    func locked<Value>(_ key: ObjectKey, _ body: () throws -> Value) throws -> Value { try locked([key], body) }

    /// The same of several keys. Whoever has some locks takes no others.
    func locked<Value>(_ keys: [ObjectKey], _ body: () throws -> Value) throws -> Value {
        let files = try layout.lockFiles(for: keys).map { path in try OpenFile(path, .lock) }
        for file in files { try file.lock() }
        defer { for file in files { file.unlock() } }
        return try body()
    }
}

/// Points between the steps of a put, a copy, a restore or a delete, where a crash would leave different things behind.
package enum LocalStoreStep: Hashable, Sendable {
    /// A folder is about to be synced; what is thrown here fails the sync.
    case syncing(FilePath)
    /// Bytes are about to be written to `staging/`; called once for each piece of a body.
    case writing
    /// The bytes are in `staging/`, synced.
    case staged
    /// The record is in `staging/`, synced.
    case recorded
    /// The bytes are in `objects/`, synced; no record names them.
    case placed
    /// The record is in `records/`: the object is stored, or changed. What it replaces still lies in `objects/`.
    case committed
    /// A new version is stored under another name; that it shall have the plain one is in `staging/`, synced.
    case renaming
    /// Its bytes have both names, synced; the record names the other one.
    case renamed
    /// The record names the plain one.
    case recommitted
    /// The record is out of `records/`: the object is deleted. Its bytes still lie in `objects/`.
    case deleted
}

/// What may be made in the store's folder where it is missing.
package enum LocalStoreAccess: Sendable {
    /// Nothing: the store is looked at.
    case reads
    /// What is missing in a store that is there.
    case writes
    /// A store, where there never was one.
    case founds
}
