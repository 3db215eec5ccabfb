import Foundation
import Glibc
import SyncCore
import SyncTestSupport
import SystemPackage
import Testing

/// Files whose names are bytes and no text.
@Suite struct RawNameTests {
    private static func name(_ bytes: UInt8...) throws -> FilePath.Component {
        try #require(FilePath.Component(bytes: [UInt8(ascii: "p")] + bytes + Array(".jpg".utf8)))
    }

    /// Runs a command one word of which is a path of any bytes.
    private func run(_ home: AgentHome, _ words: [FilePath]) async throws -> Finished {
        // A shell passes on what printf(1) makes; arguments of tests are text.
        let quoted = words.map { word in
            "\"$(printf '" + word.pathBytes.map { "\\" + String($0, radix: 8) }.joined() + "')\""
        }
        let line = ([AgentBinary.path.string] + quoted).joined(separator: " ")
        return try await ChildProcess("/bin/sh", ["-c", line], environment: home.environment).finished()
    }

    @Test func `photos whose names differ only in bytes that are no text are all restored, each with its own bytes`()
        async throws
    {
        let home = try AgentHome()
        let names = try [Self.name(0x80), Self.name(0x81), Self.name(0xC3), Self.name(0xFE, 0xFF)]
        for (number, name) in names.enumerated() {
            // With times of their own, which stay in the copies.
            let bytes = try SamplePhoto.taken(number)
            #expect(try NewFileForTests.write(bytes, to: home.gallery.appending(name)))
        }
        #expect(try await home.pass().uploaded == 4)
        let back = home.tree.path("back")
        let finished = try await home.run("restore", "--yes", "--output", back.string, home.gallery.string)
        #expect(finished.code == 0 && finished.text.contains("4 photos saved"), "\(finished)")
        let saved = back.appending("Gallery")
        #expect(Set(try saved.names) == Set(names))
        #expect(Set(try names.map { try saved.appending($0).rawBytes }).count == 4)
    }

    @Test func `such a path is found by status and restore, and is where --output saves`() async throws {
        let home = try AgentHome()
        let photo = home.gallery.appending(try Self.name(0xFF))
        #expect(try NewFileForTests.write(try SamplePhoto.unique(1), to: photo))
        _ = try await home.pass()
        let status = try await run(home, ["status", photo, "--json"])
        #expect(status.code == 0 && status.text.contains("p\\\\xff.jpg"), "\(status)")
        let back = home.tree.path("back").appending(try Self.name(0xFE))
        let restored = try await run(home, ["restore", "--yes", "--output", back, photo])
        #expect(restored.code == 0, "\(restored)")
        #expect(try back.names == [Self.name(0xFF)])
        let unknown = try await run(home, ["status", home.gallery.appending(try Self.name(0xFD))])
        #expect(unknown.code == 66 && unknown.complaint.contains("p\\xfd.jpg"), "\(unknown)")
    }

    @Test func `the configuration, which is text, refuses to name such a folder`() async throws {
        let home = try AgentHome()
        let root = home.tree.path("photos").appending(try Self.name(0xFF))
        let config = home.tree.path("other.yaml")
        let finished = try await run(home, ["init", "--config", config, "--root", root])
        #expect(finished.code == 64 && finished.complaint.contains("p\\xff.jpg"), "\(finished)")
        #expect(!FileManager.default.fileExists(atPath: config.string))
    }
}

/// Files by the bytes of their names: Foundation knows text only.
private enum NewFileForTests {
    static func write(_ bytes: [UInt8], to path: FilePath) throws -> Bool {
        let file = try FileDescriptor.open(
            path, .writeOnly, options: [.create, .exclusiveCreate, .closeOnExec], permissions: .ownerReadWrite)
        defer { try? file.close() }
        return try file.writeAll(bytes) == bytes.count
    }
}

extension FilePath {
    /// Of the path, and not of the file.
    fileprivate var pathBytes: [UInt8] {
        withPlatformString { Array(UnsafeRawBufferPointer(start: $0, count: strlen($0))) }
    }

    fileprivate var names: [FilePath.Component] {
        get throws {
            guard let folder = withPlatformString({ opendir($0) }) else { throw Errno(rawValue: errno) }
            defer { closedir(folder) }
            var names: [FilePath.Component] = []
            while let entry = readdir(folder) {
                let bytes = withUnsafeBytes(of: entry.pointee.d_name) { Array($0.prefix { $0 != 0 }) }
                if bytes.first != UInt8(ascii: "."), let name = FilePath.Component(bytes: bytes) { names.append(name) }
            }
            return names
        }
    }

    fileprivate var rawBytes: [UInt8] {
        get throws {
            let file = try FileDescriptor.open(self, .readOnly, options: .closeOnExec)
            defer { try? file.close() }
            var bytes: [UInt8] = []
            while true {
                let piece = try [UInt8](unsafeUninitializedCapacity: 1 << 16) { buffer, count in
                    count = try file.read(into: UnsafeMutableRawBufferPointer(buffer))
                }
                if piece.isEmpty { return bytes }
                bytes += piece
            }
        }
    }

    @Test func `a name forges no line of the log, and moves no terminal`() async throws {
        let home = try AgentHome()
        let name = "a\n2026-11-23T00:00:00Z error: FORGED \u{1b}[31m\u{7}.jpg"
        let photo = home.gallery.appending(name)
        try photo.create(SamplePhoto.unique(1))
        let agent = try await home.startAgent()
        try await agent.stored(atLeast: 1)
        try FileManager.default.removeItem(atPath: photo.string)
        let line = try await agent.logged { $0.contains("no longer on the disk") }
        #expect(line.contains(name.escapingControls), "\(line)")
        let wrong = try await home.run("status", "--\u{1b}[31mX\u{7}.jpg")
        #expect(wrong.code == 64 && wrong.complaint.contains("\\u{1b}[31mX\\u{7}.jpg"), "\(wrong)")
        #expect(!wrong.complaint.contains("\u{1b}") && !wrong.complaint.contains("\u{7}"))
        #expect(wrong.complaint.contains("USAGE") || wrong.complaint.contains("Usage"))
    }
}
