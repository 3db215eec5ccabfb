import Foundation
import SyncCore
import SyncTestSupport
import SystemPackage
import Testing

@testable import SyncLocalStore

/// Names of files that a disk does not take.
@Suite struct LocalStoreNameTests {
    private let tree: TemporaryTree

    init() throws {
        tree = try TemporaryTree()
    }

    private struct Said {
        var errno: Errno
        var name: String
        var isFolderThere = false
        /// `nil` where it is not the name.
        var what: String?
    }

    private static let said = [
        // Linux' own drivers.
        Said(errno: .invalidArgument, name: "what?.jpg", what: "the character ? in names"),
        Said(errno: .invalidArgument, name: "10:30.jpg", what: "the character : in names"),
        Said(errno: .invalidArgument, name: "tab\there", what: #"the character \u{9} in names"#),
        Said(errno: .invalidArgument, name: "Rome.", what: "names that end in a dot or a space"),
        Said(errno: .invalidArgument, name: "Rome ", what: "names that end in a dot or a space"),
        Said(errno: .invalidArgument, name: "con.jpg", what: "the name CON"),
        Said(errno: .invalidArgument, name: "lpt1", what: "the name LPT1"),
        Said(errno: .invalidArgument, name: "春.jpg", what: "the character 春 in names"),
        Said(errno: .illegalByteSequence, name: "Zürich", what: "the character ü in names"),
        Said(errno: .invalidArgument, name: "console.jpg"),
        // Those in user space, and servers.
        Said(errno: .noSuchFileOrDirectory, name: "what?.jpg", isFolderThere: true, what: "the character ? in names"),
        Said(errno: .noSuchFileOrDirectory, name: "aux", isFolderThere: true, what: "the name AUX"),
        Said(errno: .noSuchFileOrDirectory, name: "what?.jpg"),
        Said(errno: .noSuchFileOrDirectory, name: "春.jpg", isFolderThere: true),
        Said(errno: .noSuchFileOrDirectory, name: "a.jpg", isFolderThere: true),
        // Something else, whatever the name.
        Said(errno: .ioError, name: "what?.jpg", isFolderThere: true),
        Said(errno: .noSpace, name: "what?.jpg"),
        Said(errno: .permissionDenied, name: "what?.jpg"),
    ]

    @Test(arguments: said.indices)
    func `that a name is refused is told from the answer and the name`(index: Int) {
        let said = Self.said[index]
        let refusal = NameRefusal(said.errno, of: said.name, isFolderThere: said.isFolderThere)
        #expect(refusal?.what == said.what, "\(said)")
    }

    @Test(arguments: ["mkdir", "rename"])
    func `a character that the disk does not allow concerns one object, and is named with what helps`(call: String) {
        let error = StoreError(
            FileError(call: call, path: "/disk/store/objects/users/ana/projects/what?", errno: .invalidArgument),
            operation: "put", key: "users/ana/projects/what?.jpg")
        #expect(error.code == .invalidRequest && error.isOfThisMachine)
        #expect(!error.isTransient && !error.mayConcernWholeStore)
        #expect(error.message.contains("does not allow the character ? in names; "))
        #expect(error.message.contains("sync-agent move-store"))
    }

    @Test func `an invalid argument to another call is no word on the name`() {
        let error = StoreError(
            FileError(call: "fsync", path: "/disk/store/objects/what?", errno: .invalidArgument), operation: "put",
            key: nil)
        #expect(error.code == .serverFailed)
    }

    /// As with exfat-fuse: mkdir(2) and rename(2) say ENOENT, as of a folder that is gone.
    @Test(arguments: [("what?", StoreError.Code.invalidRequest), ("what", .conflict)])
    func `a name that never comes to be in a folder that is there is refused for its character`(
        name: String, code: StoreError.Code
    ) async throws {
        let folder = tree.path("store/objects/users/ana/projects").appending(name)
        let store = LocalStore(
            root: tree.path("store"), now: { Date() }, restoreDuration: .seconds(5),
            onStep: { if $0 == .recorded { try? FileManager.default.removeItem(atPath: folder.string) } })
        let key = try ObjectKey("users/ana/projects/\(name)/photo.jpg")
        let error = await #expect(throws: StoreError.self) { try await store.store(.noise(1_000), at: key) }
        #expect(error?.code == code && error?.concernsWholeStore == false)
        #expect(error?.message.contains("the character ? in names") == (code == .invalidRequest))
        #expect(try await store.head(key) == nil)
        #expect(try tree.files(below: "store/objects") == [])
        #expect(try tree.files(below: "store/staging") == [])
        // Others are stored.
        try await store.store(.noise(1_000), at: try ObjectKey("users/ana/projects/photo.jpg"))
    }
}
