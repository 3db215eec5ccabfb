import SyncCore
import SyncLedger
import SyncTestSupport
import SystemPackage

/// What must be true of the projects of another app, by what the app has made, what the person has deleted, and what was
/// seen in the store. It knows nothing of how the agent keeps and deletes them.
struct ProjectModel {
    private static let prefix = "users/ana/projects/"

    /// The image that each project has now; of a project that is to go, none.
    private(set) var images: [String: String] = [:]
    /// All images that a project ever had.
    private var history: [String: Set<String>] = [:]
    /// What was seen in the store of a project.
    private var seen: [String: Set<String>] = [:]
    /// Projects that somebody has asked to delete.
    private var asked: Set<String> = []
    /// Of these, those of which the agent has said that they are gone.
    private var gone: Set<String> = []

    // MARK: What happens

    mutating func write(_ text: String, of id: String) {
        images[id] = text
        history[id, default: []].insert(text)
    }

    mutating func ask(for id: String) {
        images[id] = nil
        asked.insert(id)
    }

    mutating func end(_ id: String) { gone.insert(id) }

    /// Projects that are to be there, sorted.
    var current: [String] { images.keys.sorted() }
    /// Projects that are to go, and were not called gone, sorted.
    var half: [String] { asked.subtracting(gone).sorted() }
    /// Images that a project ever had, sorted.
    func images(of id: String) -> [String] { (history[id] ?? []).sorted() }

    // MARK: What must be true at any moment

    /// - Parameter folder: where the projects are.
    /// - Returns: the promises that are broken, in words.
    mutating func broken(in folder: ProjectsFolder, _ memory: InMemoryStore, _ ledger: Ledger) throws -> [String] {
        let keys = memory.keys.filter { $0.rawValue.hasPrefix(Self.prefix) }
        var wrong: [String] = []
        for (id, texts) in history.sorted(by: { $0.key < $1.key }) {
            let stored = Self.stored(of: id, keys, memory)
            if gone.contains(id) {
                if !stored.isEmpty { wrong.append("\(id) was deleted, and something of it is stored") }
                continue
            }
            for text in stored.subtracting(texts).sorted() {
                wrong.append("\"\(text)\" is stored of \(id), and is no image of it")
            }
            if !asked.contains(id) {
                for text in (seen[id] ?? []).subtracting(stored).sorted() {
                    wrong.append("\"\(text)\" was stored of \(id), and went while the project stays")
                }
            }
            seen[id, default: []].formUnion(stored)
        }
        return try wrong + wrongClaims(in: folder, memory, ledger)
    }

    /// The image and its earlier states.
    private static func stored(of id: String, _ keys: [ObjectKey], _ memory: InMemoryStore) -> Set<String> {
        let (image, versions) = ("\(prefix)\(id).", "\(prefix)\(id)/")
        var texts: Set<String> = []
        for key in keys where key.rawValue.hasPrefix(image) || key.rawValue.hasPrefix(versions) {
            if let bytes = memory.content(key) { texts.insert(String(decoding: bytes, as: UTF8.self)) }
        }
        return texts
    }

    private func wrongClaims(in folder: ProjectsFolder, _ memory: InMemoryStore, _ ledger: Ledger) throws -> [String] {
        var wrong: [String] = []
        try ledger.photos(at: folder.path) { photo in
            guard photo.state == .uploaded, let id = photo.path.stem, let texts = history[id] else { return }
            let text = photo.key.flatMap(memory.content).map { String(decoding: $0, as: UTF8.self) }
            if let text, texts.contains(text) { return }
            wrong.append("the image of \(id) is called stored, and no image of it is under its key")
        }
        return wrong
    }

    // MARK: What must be true when all trouble is over

    /// After the deletions that were left half done, a verification and two passes in peace.
    func unmended(in folder: ProjectsFolder, _ memory: InMemoryStore) throws -> [String] {
        func stored(_ name: String) throws -> String? {
            memory.content(try ObjectKey(Self.prefix + name)).map { String(decoding: $0, as: UTF8.self) }
        }
        var wrong: [String] = []
        for (id, text) in images.sorted(by: { $0.key < $1.key }) {
            let found = try stored(ProjectsFolder.image(id))
            if found != text { wrong.append("the image of \(id) is \"\(text)\", and stored is \(found ?? "nothing")") }
        }
        for id in asked.sorted() {
            wrong += try folder.traces(of: id).map { "\(id) was deleted, and is still in \($0)" }
            if !gone.contains(id) { wrong.append("\(id) is not deleted, though nothing is in the way") }
        }
        if try stored("projects.json") != folder.listText { wrong.append("the list is not stored as it is") }
        return wrong
    }
}
