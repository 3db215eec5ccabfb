import Glibc
import SyncCore
import SyncEngine
import SyncTestSupport
import SystemPackage
import Testing

/// `vacation.json` as it lies on disks: what is read of it, and what is told instead.
@Suite struct DescriptionSourceTests {
    private let tree: TemporaryTree
    private let file: FilePath

    init() throws {
        tree = try TemporaryTree()
        file = try tree.makeFolder("trips/Paris").appending("vacation.json")
    }

    private func read() throws -> VacationDescription {
        try DescriptionSource.disk.read(file.removingLastComponent())
    }

    @Test func `A description is read, and a folder without one has none`() throws {
        #expect(try read() == VacationDescription())
        try tree.write(#"{"locationName": "Paris, Texas"}"#, to: "trips/Paris/vacation.json")
        #expect(try read().locationName == "Paris, Texas")
        #expect(try read().problems.isEmpty)
    }

    @Test func `A link out of the folder is not followed`() throws {
        let other = try tree.write(#"{"locationName": "secret"}"#, to: "outside.json")
        #expect(symlink(other.string, file.string) == 0)
        #expect(try read() == VacationDescription(problems: ["it is a link"]))
    }

    @Test func `A pipe is not waited for, and a folder is no file`() throws {
        #expect(mkfifo(file.string, 0o600) == 0)
        #expect(try read() == VacationDescription(problems: ["it is no file"]))
        #expect(unlink(file.string) == 0 && mkdir(file.string, 0o700) == 0)
        #expect(try read() == VacationDescription(problems: ["it is no file"]))
    }

    @Test(arguments: [(0, true), (1, false)])
    func `So many bytes are read, and no more`(excess: Int, isRead: Bool) throws {
        let text = #"{"locationName": "Paris"}"#
        let blanks = String(repeating: " ", count: (64 << 10) + excess - text.utf8.count)
        try tree.write(text + blanks, to: "trips/Paris/vacation.json")
        #expect(try read().locationName == (isRead ? "Paris" : nil))
        #expect(try read().problems == (isRead ? [] : ["it is larger than 65536 bytes"]))
    }

    @Test func `A file that may not be read is told`() throws {
        try tree.write("{}", to: "trips/Paris/vacation.json")
        for path in [tree.path(""), tree.path("trips"), tree.path("trips/Paris")] { chmod(path.string, 0o755) }
        #expect(chmod(file.string, 0) == 0)
        let description = try asNobody { try read() }
        #expect(description == VacationDescription(problems: ["it may not be read"]))
    }

    /// Nothing is forbidden to root: this thread is somebody else for a moment (setfsuid(2), which Glibc does not show).
    private func asNobody<Value>(_ body: () throws -> Value) throws -> Value {
        guard geteuid() == 0 else { return try body() }
        typealias Call = @convention(c) (uid_t) -> CInt
        let setfsuid = unsafeBitCast(try #require(dlsym(nil, "setfsuid")), to: Call.self)
        _ = setfsuid(65_534)
        defer { _ = setfsuid(0) }
        return try body()
    }

    @Test func `A folder that is not there is told in plain words`() throws {
        let error = #expect(throws: VacationReadError.self) {
            try DescriptionSource.disk.read(tree.path("trips/Rome"))
        }
        #expect(error?.description == "\(tree.path("trips/Rome")): the folder is not there; is its drive mounted?")
    }
}
