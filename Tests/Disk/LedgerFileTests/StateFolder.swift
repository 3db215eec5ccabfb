import Foundation
import GRDB
import SyncCore
import SystemPackage

@testable import SyncLedger

/// An empty folder of its own for one test, gone with it.
final class StateFolder {
    let path: FilePath

    init() throws {
        let url = FileManager.default.temporaryDirectory.appending(path: "ledger-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
        path = FilePath(url.path)
    }

    deinit {
        try? FileManager.default.removeItem(atPath: path.string)
    }

    var ledger: FilePath { path.appending("ledger.sqlite") }

    func mode(of file: FilePath) throws -> Int? {
        try FileManager.default.attributesOfItem(atPath: file.string)[.posixPermissions] as? Int
    }

    func size(of file: FilePath) throws -> Int? {
        guard FileManager.default.fileExists(atPath: file.string) else { return nil }
        return try FileManager.default.attributesOfItem(atPath: file.string)[.size] as? Int
    }

    func read(_ file: FilePath) throws -> Data {
        try Data(contentsOf: URL(filePath: file.string))
    }

    func write(_ data: Data, to file: FilePath) throws {
        try data.write(to: URL(filePath: file.string))
    }

    /// What is on the disk of a ledger at this moment: what a process that is killed now leaves behind. The shared
    /// memory file is left out, as after a power failure.
    func copyAsAfterCrash(to other: StateFolder) throws {
        for suffix in ["", "-wal"] {
            try FileManager.default.copyItem(atPath: ledger.string + suffix, toPath: other.ledger.string + suffix)
        }
    }

    /// Descriptors of this process that point into the folder.
    func openDescriptors() throws -> Int {
        try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count { name in
            let target = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\(name)")
            return target?.hasPrefix(path.string) == true
        }
    }
}

extension StateFolder {
    /// Makes a ledger as a version left it that knew the migrations up to one of them, and no later one.
    /// - Parameter fill: writes what that version had noted.
    @discardableResult
    func makeLedger<Result>(upTo migration: String, fill: (Database) throws -> Result) throws -> Result {
        let database = try DatabaseQueue(path: ledger.string)
        try Schema.migrator.migrate(database, upTo: migration)
        let result = try database.write(fill)
        try database.close()
        return result
    }

    /// Opens the ledger's file as another process, makes it where it is missing, and begins to write.
    /// - Returns: ends it, with nothing written.
    func beginWriting() throws -> () throws -> Void {
        var configuration = Configuration()
        configuration.allowsUnsafeTransactions = true
        let database = try DatabaseQueue(path: ledger.string, configuration: configuration)
        try database.inDatabase { try $0.beginTransaction(.immediate) }
        return {
            try database.inDatabase { try $0.rollback() }
            try database.close()
        }
    }
}

extension Ledger {
    static let gallery = WatchedFolder(kind: .gallery, path: "/pictures/gallery")

    /// Has `count` photos pending in a folder.
    func fill(_ count: Int, directory: FilePath = "trip", settled: () throws -> Void = {}) throws -> FolderID {
        let folder = try register([Self.gallery])[0].id
        let files = try (0..<count).map { index in
            guard let name = FilePath.Component("\(index).jpg") else { throw CocoaError(.fileWriteInvalidFileName) }
            let stamp = FileStamp(device: 1, inode: UInt64(index), size: 10, modified: Int64(index))
            return ScannedFile(name: name, stamp: stamp)
        }
        var failure: (any Error)?
        _ = try reconcile(
            folder, directory: directory, files: files,
            settled: { _ in
                do { try settled() } catch { failure = error }
                return true
            }, stillThere: { _ in true }, at: Date(timeIntervalSince1970: 1_000))
        if let failure { throw failure }
        return folder
    }
}
