import Foundation
import Glibc
import SyncTestSupport
import SystemPackage

/// A home folder of its own for the program: three watched folders, a configuration, a state folder and the embedded
/// store, all in temporary trees.
final class AgentHome: Sendable {
    let tree: TemporaryTree
    /// Where the embedded store lies: always in memory, since each of its puts would wait for the disk.
    private let storeTree: TemporaryTree
    let gallery: FilePath
    let vacations: FilePath
    let projects: FilePath
    let store: StoreFolder
    let environment: [String: String]

    /// Objects that are on their way at once.
    static let batchSize = 3

    /// - Parameters:
    ///   - settle: short, so that the suite is; the default of the program is ten times as long.
    ///   - store: the `store` section, in YAML's flow form; by default the embedded one in the tree.
    ///   - restoring: how many seconds a restore takes in the embedded store.
    ///   - more: further lines of the configuration.
    ///   - place: where all of it lies but the store. What is in memory is on no drive that the program would know again.
    init(
        settle: String = "0.2", store section: String? = nil, restoring: Int = 5, more: String = "",
        environment extra: [String: String] = [:], in place: TemporaryTree.Place = .memory
    ) throws {
        tree = try TemporaryTree(in: place)
        storeTree = place == .memory ? tree : try TemporaryTree(in: .memory)
        gallery = try tree.makeFolder("home/Gallery")
        vacations = try tree.makeFolder("home/Vacations")
        projects = try tree.makeFolder("home/Projects")
        store = StoreFolder(root: storeTree.path("store"))
        environment = [
            "HOME": tree.path("home").string,
            "XDG_STATE_HOME": tree.path("state").string,
            "SYNC_AGENT_CONFIG": tree.path("config.yaml").string,
            "PATH": "/usr/bin:/bin",
            "TZ": "Europe/Berlin",
            // Built with the address sanitizer, a program that ends while its threads work would be told to leak.
            "ASAN_OPTIONS": "detect_leaks=0",
        ].merging(extra) { $1 }
        try configure(
            """
            user: ana
            store: \(section ?? "{type: directory, path: \(store.root), restore_seconds: \(restoring)}")
            watch:
              - {kind: gallery, path: \(gallery), profile: grandma}
              - {kind: vacations, path: \(vacations)}
              - {kind: projects, path: \(projects)}
            upload: {batch_size: \(Self.batchSize), settle_seconds: \(settle)}
            \(more)
            """)
    }

    func configure(_ text: String) throws {
        try tree.write(text + "\n", to: "config.yaml")
    }

    /// The names of all files of the embedded store.
    func storeFiles() throws -> [String] { try storeTree.files(below: "store") }

    // MARK: The program

    func start(_ arguments: [String], environment extra: [String: String] = [:]) throws -> ChildProcess {
        try ChildProcess(
            AgentBinary.path, arguments, environment: environment.merging(extra) { $1 })
    }

    /// Runs a command to its end at a terminal, where somebody types.
    func runAtTerminal(_ arguments: [String], typing lines: String) async throws -> Finished {
        try await ChildProcess(AgentBinary.path, arguments, environment: environment, typing: lines).finished()
    }

    /// Runs a command to its end.
    func run(_ arguments: String...) async throws -> Finished {
        try await start(arguments).finished()
    }

    /// Runs a command for which the permission bits of files count, whoever runs the tests: root loses the capabilities
    /// that go past them (capabilities(7)).
    func runBoundByPermissions(_ arguments: String...) async throws -> Finished {
        try await runBoundByPermissions(arguments)
    }

    func runBoundByPermissions(_ arguments: [String]) async throws -> Finished {
        guard geteuid() == 0 else { return try await start(arguments).finished() }
        let command = ["--bounding-set=-dac_override,-dac_read_search", "--", AgentBinary.path.string] + arguments
        return try await ChildProcess(
            "/usr/bin/setpriv", command, environment: environment
        ).finished()
    }

    /// Starts the agent and waits until it watches.
    func startAgent(environment extra: [String: String] = [:]) async throws -> ChildProcess {
        let agent = try start(["run"], environment: extra)
        try await agent.logged { $0.contains("watching 3 folders") }
        return agent
    }

    // MARK: What it says

    func overview() async throws -> StatusOverview {
        try await decode(run("status", "--json"))
    }

    /// Runs a pass that stores everything.
    func pass() async throws -> PassAnswer {
        try await decode(run("sync", "--json"))
    }

    /// The photos at a path, known to the ledger.
    func photos(at path: FilePath) async throws -> [PhotoEntry] {
        let finished = try await run("status", path.string, "--json")
        // 66: nothing is known of the path.
        return finished.code == 66 ? [] : try decode(finished, as: PhotoListing.self).files
    }

    func photo(_ path: FilePath) async throws -> PhotoEntry? {
        try await photos(at: path).first
    }

    /// Asks `status` about a path again and again until the answer is right; for what the agent's log does not tell.
    func photos(at path: FilePath, until isRight: ([PhotoEntry]) -> Bool) async throws -> [PhotoEntry] {
        var seen: [PhotoEntry] = []
        return try await eventually("the state of \(path)", seen: { "\(seen)" }) {
            seen = try await photos(at: path)
            return isRight(seen) ? seen : nil
        }
    }

    private func decode<Answer: Decodable>(_ finished: Finished, as type: Answer.Type = Answer.self) throws -> Answer {
        guard finished.code == 0 else { throw UnexpectedEnd(finished: finished) }
        return try JSONDecoder().decode(Answer.self, from: Data(finished.output))
    }
}

/// A command that had to succeed did not.
struct UnexpectedEnd: Error, CustomStringConvertible {
    var finished: Finished

    var description: String { "the command ended with \(finished.ending): \(finished.complaint)" }
}
