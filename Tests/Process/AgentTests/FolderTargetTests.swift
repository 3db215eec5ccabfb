import SystemPackage
import Testing

/// Folders that cannot be made, named on the command line.
@Suite struct FolderTargetTests {
    @Test(arguments: [
        ["projects", "export", "/proc/x"], ["projects", "export", "/proc/x/y/z"],
        ["projects", "export", "/dev/null/x"],
        ["archive", "download", "--output", "/proc/x"],
    ])
    func `a folder that cannot be made is a reason with a next step, never the end of the program`(
        arguments: [String]
    ) async throws {
        let home = try AgentHome()
        _ = try await home.pass()
        let finished = try await home.start(arguments).finished()
        #expect(finished.code == 1 || finished.code == 77)
        #expect(finished.complaint.contains(arguments[arguments.count - 1]))
        #expect(finished.complaint.contains("name a"))
    }
}
