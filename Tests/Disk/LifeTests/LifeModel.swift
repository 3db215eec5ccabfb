import SyncCore
import SyncDigest
import SyncEngine
import SyncLedger
import SyncTestSupport
import SystemPackage

/// What must be true of a home, as plainly as it can be said: what the person has on the disk, and what was seen in the
/// store. It knows nothing of how the agent works.
struct LifeModel {
    /// Files that are there, by their text: `broken…` no decoder takes, `text…` is no photo.
    private(set) var files: [FilePath: String] = [:]
    /// All that was ever at a path.
    private var history: [FilePath: Set<String>] = [:]
    /// What was once stored, by the bytes that it had.
    private var stored: [ObjectKey: [UInt8]] = [:]
    /// Objects that somebody has damaged or removed behind the agent's back, and that were not put right yet.
    private(set) var spoilt: Set<ObjectKey> = []
    /// Shares of which the agent has said that nothing of them is left.
    private var ended: Set<ShareID> = []

    // MARK: What happens

    mutating func write(_ text: String, at path: FilePath) {
        files[path] = text
        history[path, default: []].insert(text)
    }

    mutating func rename(_ path: FilePath, to other: FilePath) {
        guard let text = files.removeValue(forKey: path) else { return }
        write(text, at: other)
    }

    mutating func remove(_ path: FilePath) { files[path] = nil }
    mutating func spoil(_ key: ObjectKey) { spoilt.insert(key) }
    /// The ledger is gone, and with it what it said of shares that are still in the store.
    mutating func forgetShares() { ended = [] }

    /// A photo that stands in an event has no path of its own.
    mutating func writeInEvent(_ text: String) { history["/events", default: []].insert(text) }

    // MARK: What must be true at any moment

    /// - Returns: the promises that are broken, in words.
    mutating func broken(in home: Home, _ ledger: Ledger) throws -> [String] {
        checkStore(home.memory)
        return try lostObjects(home.memory) + wrongClaims(home.memory, ledger) + wrongShares(home.memory, ledger)
    }

    /// Photos of the person's, not shares, manifests or the catalogue.
    private static func isPhoto(_ key: ObjectKey) -> Bool {
        key.rawValue.hasPrefix("users/ana/photos/") || key.rawValue.hasPrefix("gallery-archive/")
    }

    private mutating func checkStore(_ memory: InMemoryStore) {
        for key in memory.keys where Self.isPhoto(key) {
            guard let bytes = memory.content(key) else { continue }
            if stored[key] == nil, !spoilt.contains(key) { stored[key] = bytes }
            if stored[key] == bytes { spoilt.remove(key) }
        }
    }

    private func lostObjects(_ memory: InMemoryStore) -> [String] {
        let texts = history.values.reduce(into: Set()) { $0.formUnion($1) }
        let copies = Set(texts.map { Array($0.uppercased().utf8) })
        return stored.sorted { $0.key < $1.key }.compactMap { key, bytes in
            if !copies.contains(bytes) { return "\(key) is no copy of any photo" }
            if spoilt.contains(key) || memory.content(key) == bytes { return nil }
            return "\(key) was stored, and is gone or altered"
        }
    }

    /// What is called stored is there, with the bytes of what was under that path.
    private func wrongClaims(_ memory: InMemoryStore, _ ledger: Ledger) throws -> [String] {
        var wrong: [String] = []
        try ledger.photos(at: Home.pictures) { photo in
            guard photo.state == .uploaded || photo.state == .missing else { return }
            guard let key = photo.key else {
                if photo.state == .uploaded { wrong.append("\(photo.path) is called stored, under no key") }
                return
            }
            if spoilt.contains(key) { return }
            let copies = (history[photo.path] ?? []).map { Array($0.uppercased().utf8) }
            guard let bytes = memory.content(key), copies.contains(bytes) else {
                wrong.append("\(photo.path) is called \(photo.state), and \(key) is not what was there")
                return
            }
        }
        return wrong
    }

    /// Of a share that is over nothing is left, for ever; one that is live has all that its manifest names.
    private mutating func wrongShares(_ memory: InMemoryStore, _ ledger: Ledger) throws -> [String] {
        var wrong: [String] = []
        let shares = try ledger.shares(limit: .max)
        ended.formUnion(shares.filter(\.state.isOver).map(\.id))
        for id in ended where memory.keys.contains(where: { $0.rawValue.hasPrefix(ShareKeys(id).folder) }) {
            wrong.append("a share is over, and something of it is still there")
        }
        for share in shares where share.state == .live {
            guard let bytes = memory.content(share.keys.manifest) else {
                wrong.append("a live share has no manifest")
                continue
            }
            let text = String(decoding: bytes, as: UTF8.self)
            let digests = memory.keys.filter { $0.rawValue.hasPrefix(share.keys.folder) }
                .compactMap { memory.content($0).map { "\(ContentDigest(of: $0).sha256)" } }
            let named = digests.count { text.contains($0) }
            if share.step == .done, named < share.photoCount {
                wrong.append("a live share names \(share.photoCount) photos, and \(named) of them are there")
            }
        }
        return wrong
    }

    // MARK: What must be true when all trouble is over

    /// After a verification and two passes in peace.
    func unmended(in home: Home, _ ledger: Ledger) throws -> [String] {
        var wrong: [String] = []
        var states: [FilePath: PhotoStatus] = [:]
        try ledger.photos(at: Home.pictures) { states[$0.path] = $0 }
        for (path, text) in files.sorted(by: { $0.key.string < $1.key.string }) {
            let expected: PhotoState =
                text.hasPrefix("broken") ? .failed : text.hasPrefix("text") ? .skipped : .uploaded
            guard let photo = states[path] else {
                wrong.append("\(path) is not known")
                continue
            }
            if photo.state != expected {
                wrong.append("\(path) is \(photo.state), not \(expected): \(photo.error ?? "no reason")")
            } else if expected == .uploaded, photo.key.flatMap(home.memory.content) != Array(text.uppercased().utf8) {
                wrong.append(
                    "\(path) is called stored, and \(photo.key?.rawValue ?? "no key") (\(photo.storageClass?.rawValue ?? "")) "
                        + "is not its copy")
            }
        }
        for (path, photo) in states where files[path] == nil && photo.state != .missing && photo.state != .lost {
            wrong.append("\(path) is gone from the disk, and called \(photo.state)")
        }
        for (path, photo) in states where photo.state == .missing && photo.key.map(spoilt.contains) ?? false {
            wrong.append("\(path) is gone from the disk and from the store, and is not called lost")
        }
        for job in try ledger.openRestoreJobs() {
            for item in try ledger.restoreItems(of: job.id, after: 0, limit: .max) where item.state.isOpen {
                wrong.append(
                    "the restore of \(item.key) does not end: \(item.state), asked for \(item.attempts) times, last at "
                        + "\(item.requestedAt.map { "\($0)" } ?? "no time"); the store has "
                        + "\(home.memory.info(item.key).map { "\($0.storageClass.rawValue) \($0.restore)" } ?? "nothing")"
                )
            }
        }
        return wrong.sorted()
    }
}
