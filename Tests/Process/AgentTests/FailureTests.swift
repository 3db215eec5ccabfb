import Glibc
import SyncTestSupport
import SystemPackage
import Testing

/// What is wrong is told in words, with the next step, and by an exit code.
struct FailureTests {
    private let home: AgentHome

    init() throws { home = try AgentHome() }

    @Test(arguments: ["run", "sync", "status"])
    func `without a configuration every command says how to get one`(command: String) async throws {
        try home.tree.path("config.yaml").remove()
        let finished = try await home.run(command)
        #expect(finished.code == 78)
        #expect(finished.complaint.contains("config.yaml") && finished.complaint.contains("sync-agent init"))
    }

    private func run(_ command: String, limited ulimit: String) async throws -> Finished {
        let line = "\(ulimit); exec '\(AgentBinary.path)' \(command)"
        return try await ChildProcess("/bin/sh", ["-c", line], environment: home.environment).finished()
    }

    @Test(arguments: ["run", "sync", "status"])
    func `where too few files may be open, every command ends and says what to raise`(command: String) async throws {
        let finished = try await run(command, limited: "ulimit -n 12")
        #expect(finished.code == 1)
        #expect(finished.complaint.contains("12 files open") && finished.complaint.contains("ulimit -n 1024"))
    }

    @Test func `a limit of open files that may be raised is raised`() async throws {
        let finished = try await run("sync", limited: "ulimit -S -n 12")
        #expect(finished.code == 0, "\(finished)")
    }

    @Test(
        arguments: [
            ("batch_sise: 3", ["line 5", "upload.batch_sise", #"did you mean "batch_size""#]),
            ("batch_size: many", ["line 5", "upload.batch_size", "many", "a whole number from 1 to 16"]),
            ("batch_size: [", ["line ", "not valid YAML"]),
        ])
    func `a mistake in the configuration is told with its key, its line and what is accepted`(
        upload: String, words: [String]
    ) async throws {
        try home.configure(
            """
            user: ana
            store: {type: directory, path: \(home.store.root)}
            watch: [{kind: gallery, path: \(home.gallery)}]
            upload:
              \(upload)
            """)
        for command in [["config", "check"], ["run"], ["sync"]] {
            let finished = try await home.start(command).finished()
            #expect(finished.code == 78)
            for word in words { #expect(finished.complaint.contains(word)) }
        }
    }

    @Test(
        arguments: [["bogus"], ["sync", "--bogus"], ["status", "--watch", "--json"], ["init", "--store", "s3"]])
    func `a wrong command line ends with 64 and the usage`(arguments: [String]) async throws {
        let finished = try await home.start(arguments).finished()
        #expect(finished.code == 64)
        #expect(finished.complaint.contains("Usage: sync-agent"))
        #expect(finished.output == [])
    }

    @Test func `a path of which nothing is known ends with 66 and is named; the others are told of`() async throws {
        let (photo, unknown) = (home.gallery.appending("a.jpg"), home.gallery.appending("never.jpg"))
        try photo.create(SamplePhoto.unique(1))
        #expect(try await home.run("sync").code == 0)
        let finished = try await home.run("status", photo.string, unknown.string)
        #expect(finished.code == 66)
        #expect(finished.complaint.contains("\(unknown)") && !finished.complaint.contains("\(photo)"))
        #expect(finished.text.contains("uploaded") && finished.text.contains("\(photo)"))
    }

    @Test func `a pass with a broken photo ends with 3 and names it; so does the next, which has nothing new to do`()
        async throws
    {
        let (whole, broken) = (home.gallery.appending("a.jpg"), home.gallery.appending("b.jpg"))
        try whole.create(SamplePhoto.unique(1))
        try broken.create(SamplePhoto.truncated(2))
        for pass in 1...2 {
            let finished = try await home.run("sync")
            #expect(finished.code == 3)
            #expect((finished.text + finished.complaint).contains("\(broken): the file ends before its picture does"))
            #expect(finished.text.contains(pass == 1 ? "1 photo stored" : "0 photos stored"))
        }
        #expect(try home.store.objects().count == 1)
    }

    // MARK: Folders and files

    @Test func `a pass without one of its folders stores the others, ends with 3 and names it`() async throws {
        try home.projects.remove()
        try home.gallery.appending("a.jpg").create(SamplePhoto.unique(1))
        let finished = try await home.run("sync")
        #expect(finished.code == 3)
        #expect(finished.text.contains("\(home.projects): it is not there"))
        #expect(try home.store.objects().count == 1)
    }

    @Test func `an agent without one of its folders watches the others, and that one when it appears`() async throws {
        try home.projects.remove()
        let agent = try await home.startAgent()
        let photo = home.gallery.appending("a.jpg")
        try photo.create(SamplePhoto.unique(1))
        #expect(try await agent.outcome(of: photo) == .stored)
        let image = home.projects.appending("p1.jpg")
        try image.create(SamplePhoto.unique(2))
        #expect(try await agent.outcome(of: image) == .stored)
    }

    @Test
    func `an emptied folder is no reason to forget what is stored: its photos are kept, and the pass ends with 3`()
        async throws
    {
        for number in 0..<3 { try home.gallery.appending("\(number).jpg").create(SamplePhoto.unique(number)) }
        #expect(try await home.run("sync").code == 0)
        try home.gallery.remove()
        try home.gallery.createFolder()
        let finished = try await home.run("sync")
        #expect(finished.code == 3)
        #expect(finished.text.contains("\(home.gallery)"))
        #expect(try await home.photos(at: home.gallery).map(\.state) == ["uploaded", "uploaded", "uploaded"])
        #expect(try home.store.objects().count == 3)
    }

    @Test func `a photo that may not be read waits, with the reason, and the others are stored`() async throws {
        let (whole, locked) = (home.gallery.appending("a.jpg"), home.gallery.appending("locked.jpg"))
        try whole.create(SamplePhoto.unique(1))
        try locked.create(SamplePhoto.unique(2))
        try locked.setMode(0)
        let finished = try await home.runBoundByPermissions("sync")
        #expect(finished.code == 3)
        #expect(finished.complaint.contains("\(locked): it cannot be read: permission denied"))
        let entry = try await home.photo(locked)
        #expect(entry?.state == "pending" && entry?.error?.contains("permission denied") == true)
        #expect(try home.store.objects().count == 1)
    }

    @Test func `a folder that may not be entered is named with the remedy, and what is known of it stays known`()
        async throws
    {
        let folder = home.gallery.appending("locked")
        try folder.appending("a.jpg").create(SamplePhoto.unique(1))
        #expect(try await home.run("sync").code == 0)
        try folder.setMode(0)
        let finished = try await home.runBoundByPermissions("sync")
        try folder.setMode(0o700)
        #expect(finished.code == 3)
        #expect(finished.text.contains("\(folder): Permission denied") && finished.text.contains("chmod"))
        #expect(try await home.photos(at: folder).map(\.state) == ["uploaded"])
    }

    // MARK: State and store

    @Test(
        arguments: ["run", "sync", "status"])
    func `a state folder that cannot be written ends with 77 and names the ledger`(command: String) async throws {
        let state = try home.tree.makeFolder("state/sync-agent")
        try FilePath(state.string).setMode(0o500)
        let finished = try await home.runBoundByPermissions(command)
        try state.setMode(0o700)
        #expect(finished.code == 77)
        #expect(finished.complaint.contains("ledger.sqlite") && finished.complaint.contains("Permission denied"))
    }

    @Test(arguments: [mode_t(0), 0o200, 0o400])
    func `a ledger that may not be read, or not be written, is told apart, with the remedy`(mode: mode_t) async throws {
        try home.gallery.appending("a.jpg").create(SamplePhoto.unique(1))
        #expect(try await home.run("sync").code == 0)
        let ledger = home.tree.path("state/sync-agent/ledger.sqlite")
        try ledger.setMode(mode)
        let finished = try await home.runBoundByPermissions("status")
        try ledger.setMode(0o600)
        let isReadable = mode == 0o400
        #expect(finished.code == 77)
        #expect(
            finished.complaint.contains(
                "the file cannot be \(isReadable ? "written" : "read"): Permission denied; check its owner and mode"))
    }

    @Test(arguments: ["status", "sync", "doctor"])
    func `a ledger that is a link that leads nowhere is named, and not taken for none`(command: String) async throws {
        #expect(try await home.run("sync").code == 0)
        let ledger = home.tree.path("state/sync-agent/ledger.sqlite")
        for suffix in ["", "-wal", "-shm"] { _ = unlink(ledger.string + suffix) }
        #expect(symlink(home.tree.path("away/ledger.sqlite").string, ledger.string) == 0)
        let finished = try await home.run(command)
        #expect(finished.code == 1)
        // Wrapped by the one, and told in one line by the others.
        let words = (finished.text + finished.complaint).split(whereSeparator: \.isWhitespace).joined(separator: " ")
        #expect(words.contains("it is a link that leads nowhere") && words.contains("mount the drive"), "\(words)")
    }

    @Test(arguments: [false, true])
    func `a state folder that may not be entered is named, with the remedy`(hasLedger: Bool) async throws {
        let folder = home.tree.path("state/sync-agent")
        #expect(try await home.run("sync").code == 0)
        if !hasLedger {
            for suffix in ["", "-wal", "-shm"] {
                _ = unlink(folder.string + "/ledger.sqlite" + suffix)
            }
        }
        try folder.setMode(0)
        let finished = try await home.runBoundByPermissions("status")
        try folder.setMode(0o700)
        #expect(finished.code == 77)
        #expect(
            finished.complaint.contains(
                "its folder \(folder) cannot be entered: Permission denied; make it this user's"),
            "\(finished.complaint)")
    }

    @Test(arguments: ["objects", "records", "staging", "locks"], [mode_t(0o500), 0o300])
    func `a folder of the store that may not be written or listed is named, though nothing is new`(
        name: String, mode: mode_t
    ) async throws {
        try home.gallery.appending("a.jpg").create(SamplePhoto.unique(1))
        #expect(try await home.run("sync").code == 0)
        let folder = home.store.root.appending(name)
        try folder.setMode(mode)
        let finished = try await home.runBoundByPermissions("sync")
        try folder.setMode(0o700)
        #expect(finished.code == 77)
        #expect(finished.complaint.contains("\(folder): no permission"))
    }

    @Test(arguments: ["records/users", "records/users/ana/photos"])
    func `a pass that cannot list what is stored calls nothing safe, though it has nothing to send`(
        name: String
    ) async throws {
        try home.gallery.appending("a.jpg").create(SamplePhoto.unique(1))
        #expect(try await home.run("sync").code == 0)
        let before = try await home.overview().lastSyncAt
        let folder = home.store.root.appending(name)
        try folder.setMode(0)
        let finished = try await home.runBoundByPermissions("sync")
        try folder.setMode(0o700)
        #expect(finished.code == 77)
        #expect(finished.complaint.contains("\(folder)"), "\(finished.complaint)")
        #expect(finished.complaint.contains("no permission"))
        #expect(try await home.overview().lastSyncAt == before)
        #expect(try await home.run("sync").code == 0)
    }

    @Test func `doctor names a store that it may not look into, and does not take it for another folder`()
        async throws
    {
        try home.gallery.appending("a.jpg").create(SamplePhoto.unique(1))
        #expect(try await home.run("sync").code == 0)
        try home.store.root.setMode(0)
        let finished = try await home.runBoundByPermissions("doctor")
        try home.store.root.setMode(0o700)
        #expect(finished.code == 77)
        #expect(finished.text.contains("\(home.store.root)") && finished.text.contains("no permission"), "\(finished)")
        #expect(!finished.text.contains("is no store"))
        #expect(finished.text.contains("-> give the user that runs sync-agent access to it"))
    }

    @Test(arguments: ["run", "sync", "status"])
    func `a state folder below a file is told, with what to do`(command: String) async throws {
        try home.tree.write("no folder", to: "state")
        let finished = try await home.run(command)
        #expect(finished.code == 1)
        #expect(
            finished.complaint.contains(
                "\(home.tree.path("state")): something that is no folder has this name; move it away, or name another folder"
            ))
    }

    @Test func `a store below a file is named, and nothing is lost`() async throws {
        let file = try home.tree.write("no folder", to: "file")
        try home.configure(
            """
            user: ana
            store: {type: directory, path: \(file)/store}
            watch: [{kind: gallery, path: \(home.gallery)}]
            """)
        try home.gallery.appending("a.jpg").create(SamplePhoto.unique(1))
        let finished = try await home.run("sync")
        #expect(finished.code != 0)
        #expect(finished.complaint.contains("\(file)"))
        #expect(try home.tree.read("file") == Array("no folder".utf8))
    }

    @Test func `a store whose folder is gone is an unmounted disk: 69, and no empty one is made in its place`()
        async throws
    {
        try home.gallery.appending("a.jpg").create(SamplePhoto.unique(1))
        #expect(try await home.run("sync").code == 0)
        try home.store.root.move(to: home.tree.path("unplugged"))
        try home.gallery.appending("b.jpg").create(SamplePhoto.unique(2))
        let finished = try await home.run("sync")
        #expect(finished.code == 69)
        #expect(finished.complaint.contains("\(home.store.root)"))
        #expect(try home.store.objects().isEmpty)
        try home.tree.path("unplugged").move(to: home.store.root)
        #expect(try await home.run("sync").code == 0)
        #expect(try home.store.objects().count == 2)
    }

    @Test func `an agent takes its folders as they are configured now before it opens its store`() async throws {
        func configure(_ store: FilePath, _ filter: String = "") throws {
            try home.configure(
                """
                user: ana
                store: {type: directory, path: \(store)}
                watch: [{kind: gallery, path: \(home.gallery)\(filter)}]
                upload: {settle_seconds: 0.2}
                """)
        }
        try configure(home.store.root)
        try home.gallery.appending("a.jpg").create(SamplePhoto.unique(1))
        #expect(try await home.run("sync").code == 0)
        #expect(try await home.overview().folders.map(\.problem) == [nil])
        // The store is not opened: it is another one than the ledger's.
        try configure(home.tree.path("another"), ", filter: ['- *.png']")
        #expect(try await home.run("run").code == 78)
        // By these rules nobody has looked at it since.
        try configure(home.store.root)
        let problem = try await home.overview().folders.first?.problem
        #expect(problem?.contains("it was not looked at yet") == true, "\(problem ?? "none")")
    }

    @Test func `a ledger of another store is not taken for this one's`() async throws {
        try home.gallery.appending("a.jpg").create(SamplePhoto.unique(1))
        #expect(try await home.run("sync").code == 0)
        try home.configure(
            """
            user: ana
            store: {type: directory, path: \(home.tree.path("another"))}
            watch: [{kind: gallery, path: \(home.gallery)}]
            """)
        let finished = try await home.run("sync")
        #expect(finished.code == 78)
        #expect(finished.complaint.contains("\(home.store.root)") && finished.complaint.contains("another"))
    }
}
