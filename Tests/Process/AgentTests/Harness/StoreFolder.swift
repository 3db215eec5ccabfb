import Foundation
import SyncCore
import SyncDigest
import SystemPackage

/// Looks into the folder of the embedded store past the program.
struct StoreFolder: Sendable {
    /// An object as its record tells it.
    struct Object: Decodable, Sendable {
        var key: String
        var file: String
        var size: Int
        var md5: String
        var sha256: String
        var contentType: String
        var metadata: [String: String]
    }

    let root: FilePath

    /// The committed objects, by key, but for what tells of machines.
    func objects() throws -> [Object] {
        try recordPaths().map { path in
            try JSONDecoder().decode(Object.self, from: Data(contentsOf: URL(filePath: path.string)))
        }.sorted { $0.key < $1.key }
    }

    func recordPaths() throws -> [FilePath] {
        try files(below: "records").filter { !$0.string.tellsOfMachine }
    }

    func photoRecordPaths() throws -> [FilePath] { try recordPaths().filter { $0.string.contains("/photos/") } }

    /// The paths of all files that hold bytes of objects, whether a record names them or not.
    func contents() throws -> [FilePath] {
        try files(below: "objects").filter { !$0.string.tellsOfMachine }
    }

    /// The segments of all machines' catalogues.
    func segments() throws -> [FilePath] {
        try files(below: "objects").filter { $0.string.contains("/users/ana/catalog/") }
    }

    /// Takes the catalogues of these machines out of it; of all where none is named.
    func loseCatalog(of machine: String? = nil) throws {
        let place = "/users/ana/catalog/" + (machine.map { $0 + "/" } ?? "")
        for path in try files(below: "objects") + files(below: "records") where path.string.contains(place) {
            try path.remove()
        }
    }

    /// What puts have in hand, or have left behind when they were killed.
    func staged() throws -> [FilePath] { try files(below: "staging") }

    func bytes(of object: Object) throws -> [UInt8] {
        Array(try Data(contentsOf: URL(filePath: root.appending("objects").pushing(FilePath(object.file)).string)))
    }

    /// Whether the bytes of every object are those of its record.
    func isSound() throws -> Bool {
        try objects().allSatisfy { object in
            let digest = ContentDigest(of: try bytes(of: object))
            return "\(digest.sha256)" == object.sha256 && "\(digest.md5)" == object.md5
        }
    }

    func files(below name: String) throws -> [FilePath] {
        let folder = root.appending(name)
        guard FileManager.default.fileExists(atPath: folder.string) else { return [] }
        return try FileManager.default.subpathsOfDirectory(atPath: folder.string)
            .map { folder.pushing(FilePath($0)) }
            .filter { path in
                var isFolder = ObjCBool(false)
                return FileManager.default.fileExists(atPath: path.string, isDirectory: &isFolder)
                    && !isFolder.boolValue
            }
    }
}

extension String {
    /// Whether this key is of a machine's catalogue, note or claim, which come and change with every pass, or the store's id.
    var tellsOfMachine: Bool {
        contains("/catalog/") || contains("/machines/") || contains("/jobs/") || hasSuffix("sync-agent-store.json")
    }
}
