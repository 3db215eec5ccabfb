import FoundationEssentials
import SyncCore
import SyncDigest
import SyncTestSupport

/// What must be true of the mirrors on another machine, by what was seen in the store and by what their person has done.
/// It knows nothing of how a mirror works.
struct MirrorModel {
    typealias Photos = [String: [UInt8]]

    enum Touch {
        /// What is there since.
        case edited([UInt8])
        /// What was there. Another photo of the share may come to have its name.
        case deleted([UInt8])
    }

    /// Those that the other machine's person was told of, in their order.
    private(set) var shares: [ShareID] = []
    /// All photos that the store ever had of a share.
    private var seen: [ShareID: Set<[UInt8]>] = [:]
    /// What the person has done with photos in a mirror.
    private var touched: [ShareID: [String: Touch]] = [:]
    /// What was in a mirror last.
    private var copies: [ShareID: Photos] = [:]

    // MARK: What happens

    mutating func tell(of share: ShareID) {
        if !shares.contains(share) { shares.append(share) }
    }

    mutating func touch(_ name: String, of share: ShareID, _ touch: Touch) {
        touched[share, default: [:]][name] = touch
        switch touch {
        case .edited(let bytes): copies[share, default: [:]][name] = bytes
        case .deleted: copies[share, default: [:]][name] = nil
        }
    }

    /// What the store has now of the shares that are mirrored.
    mutating func look(at memory: InMemoryStore) {
        let keys = memory.keys.filter { $0.rawValue.hasPrefix("shares/") }
        for share in shares {
            for key in Self.photos(of: share, among: keys) {
                if let bytes = memory.content(key) { seen[share, default: []].insert(bytes) }
            }
        }
    }

    private static func photos(of share: ShareID, among keys: [ObjectKey]) -> [ObjectKey] {
        let folder = ShareKeys(share).folder
        return keys.filter { key in
            key.rawValue.hasPrefix(folder) && key.rawValue.hasSuffix(".jpg") && !key.rawValue.contains("/thumbnails/")
        }
    }

    static func isOver(_ share: ShareID, in memory: InMemoryStore) -> Bool {
        let folder = ShareKeys(share).folder
        return !memory.keys.contains { $0.rawValue.hasPrefix(folder) }
    }

    // MARK: What must be true

    /// After a run, however it has ended.
    /// - Parameter photos: what is in the mirror now.
    /// - Returns: the promises that are broken, in words.
    mutating func broken(_ share: ShareID, _ photos: Photos, _ memory: InMemoryStore) -> [String] {
        var wrong: [String] = []
        let own = touched[share] ?? [:]
        var edited: Set<String> = []
        for (name, touch) in own.sorted(by: { $0.key < $1.key }) {
            switch touch {
            case .edited(let bytes):
                edited.insert(name)
                if photos[name] != bytes { wrong.append("\(name) was edited in a mirror, and the edited one is gone") }
            case .deleted(let bytes):
                if photos[name] == bytes { wrong.append("\(name) was deleted in a mirror, and is there again") }
            }
        }
        let had = seen[share] ?? []
        for (name, bytes) in photos.sorted(by: { $0.key < $1.key }) where !edited.contains(name) {
            if !had.contains(bytes) { wrong.append("\(name) in a mirror is no photo that the share ever had") }
        }
        if Self.isOver(share, in: memory), photos != copies[share] ?? [:] {
            wrong.append("of a share that is over, something came into its mirror or went")
        }
        copies[share] = photos
        return wrong
    }

    /// After a run that says that all is here: byte by byte, what the manifest names. Where the person has touched
    /// photos, which of the share's they were is not for the model to say.
    func missing(_ share: ShareID, _ photos: Photos, _ memory: InMemoryStore) -> [String] {
        guard touched[share] == nil, let manifest = memory.content(ShareKeys(share).manifest) else { return [] }
        let text = String(decoding: manifest, as: UTF8.self)
        let here = Set(photos.values)
        return Self.photos(of: share, among: memory.keys).compactMap { key -> String? in
            guard let bytes = memory.content(key), text.contains("\(ContentDigest(of: bytes).sha256)") else {
                return nil
            }
            return here.contains(bytes) ? nil : "a mirror is called complete, and has not \(key.lastSegment)"
        }
    }

    /// Whether a share can be mirrored: it has a manifest, and its end has not come.
    static func isLive(_ share: ShareID, in memory: InMemoryStore, at now: Date) -> Bool {
        guard let manifest = memory.content(ShareKeys(share).manifest) else { return false }
        let text = String(decoding: manifest, as: UTF8.self)
        guard let field = text.firstRange(of: "\"expiresAt\"") else { return true }
        let end = text[field.upperBound...].drop { !$0.isNumber }.prefix(19)
        return end > now.formatted(.iso8601).prefix(19)
    }
}
