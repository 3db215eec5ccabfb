import SyncTestSupport
import SystemPackage
import Testing

/// A read(2) that gives nothing before the end of the file, as failing drives and network mounts that went away do: what
/// came until then is no file, and its digest that of another one.
@Suite(.enabled(if: !Tool.strace.isMissing, "needs strace")) struct EarlyEndTests {
    /// Runs a command to which reads of some files give nothing.
    private func run(_ home: AgentHome, cutting paths: [FilePath], _ words: String...) async throws -> Finished {
        let files = paths.flatMap { ["-P", $0.string] }
        let options =
            ["-f", "-qq"] + files + [
                "-e", "trace=pread64", "-e", "inject=pread64:retval=0:when=1+", "-o", home.tree.path("trace").string,
                "--",
                AgentBinary.path.string,
            ] + words
        return try await ChildProcess(FilePath(Tool.strace.rawValue), options, environment: home.environment).finished()
    }

    @Test func `no photo is called stored whose bytes were not read to their end, and the next pass stores it`()
        async throws
    {
        let home = try AgentHome()
        let photos = ["x.jpg", "y.jpg"].map { home.gallery.appending($0) }
        for (number, photo) in photos.enumerated() { try photo.create(SamplePhoto.unique(number)) }
        let cut = try await run(home, cutting: photos, "sync")
        #expect(cut.code == 3, "\(cut)")
        #expect(try await home.overview().totals.uploaded < 2)
        _ = try await home.run("retry")
        _ = try await home.pass()
        #expect(try await home.overview().totals.uploaded == 2)
        #expect(try home.store.objects().count == 2)
    }

    @Test func `a project is not moved away from a copy that ends early`() async throws {
        let home = try AgentHome()
        try home.projects.appending("projects.json").create(Array("[]".utf8))
        let image = home.projects.appending("p1.jpg")
        let bytes = try SamplePhoto.unique(1)
        try image.create(bytes)
        let new = home.tree.path("New")
        let cut = try await run(
            home, cutting: [image], "projects", "migrate", home.projects.string, new.string)
        #expect(cut.code != 0, "\(cut)")
        #expect(try image.bytes == bytes)
        let whole = try await home.run("projects", "migrate", home.projects.string, new.string)
        #expect(whole.code == 0, "\(whole)")
        #expect(try new.appending("p1.jpg").bytes == bytes)
    }

    @Test func `a list of projects that could not be read once is stored by a later pass, though it did not change`()
        async throws
    {
        let home = try AgentHome()
        let list = home.projects.appending("projects.json")
        try list.create(Array("[]".utf8))
        let cut = try await run(home, cutting: [list], "sync")
        #expect(cut.code == 3, "\(cut)")
        #expect(try await home.photo(list)?.state == "pending")
        _ = try await home.run("retry")
        _ = try await home.pass()
        #expect(try await home.photo(list)?.state == "uploaded")
    }
}
