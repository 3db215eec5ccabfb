import ArgumentParser
import SyncCore
import SyncEngine
import SyncLedger
import SyncLocalStore
import SyncSystem
import SyncTestSupport
import SystemPackage
import Testing

@testable import SyncCLI

/// One opened installation, and its end. In processes of their own: threads are counted by their names.
@Suite struct WorkspaceTests {
    @Test func `a workspace that is closed, once or twice, leaves none of its threads`() async throws {
        await #expect(processExitsWith: .success) {
            let bench = try WorkspaceBench()
            let workspace = try bench.open()
            try await bench.use(workspace)
            let names = ThreadNames.now(ThreadNames.isOfProgram)
            for name in ["disk-1", "intake-1", "ledger-1", "local-store-1", "notices-1", "photos-1"] {
                #expect(names.contains(name), "\(names)")
            }
            try await workspace.close()
            try await bench.expectNoThreads()
            try await workspace.close()
            try await bench.expectNoThreads()
        }
    }

    @Test func `a workspace is closed when its command fails`() async throws {
        struct Failure: Error {}
        await #expect(processExitsWith: .success) {
            let bench = try WorkspaceBench()
            await #expect(throws: Failure.self) {
                try await bench.open().whileOpen { workspace in
                    try await bench.use(workspace)
                    throw Failure()
                }
            }
            try await bench.expectNoThreads()
        }
    }

    @Test func `the lists of projects are read by a thread for disks, and by none of the ledger`() async throws {
        await #expect(processExitsWith: .success) {
            let bench = try WorkspaceBench()
            let workspace = try bench.open()
            let projects = try await ProjectServices(workspace)
            #expect(!ThreadNames.now().contains("disk-1"))
            #expect(try await projects.entries().isEmpty)
            #expect(ThreadNames.now().contains("disk-1"))
            try await workspace.close()
        }
    }

    @Test func `what was asked is not done in a store from which all was moved while nobody answered`() async throws {
        let bench = try WorkspaceBench()
        let workspace = try bench.open()
        let store = try await workspace.store(.founds)
        let installation = workspace.installation
        let ledger = try await workspace.ledger
        #expect(try await workspace.afterAsking { 1 } == 1)
        _ = try await ledger { try installation.takeDeletionLock(in: store, $0, orSay: "nothing") }
        let other = try bench.open()
        try await other.ledger.callAsFunction { try $0.adopt(store: "elsewhere", id: nil, isCopy: true) }
        let refusal = await #expect(throws: CommandFailure.self) { try await workspace.afterAsking { 1 } }
        #expect(refusal?.status == .configuration)
        await #expect(throws: CommandFailure.self) {
            try await ledger { try installation.takeDeletionLock(in: store, $0, orSay: "nothing") }
        }
        try await other.close()
        try await workspace.close()
    }

    @Test func `the lock is free when a workspace is closed, and the ledger is not open any more`() async throws {
        let bench = try WorkspaceBench()
        let first = try bench.open()
        let ledger = try await first.ledger
        try await first.takeLock()
        let second = try bench.open()
        #expect(try await second.takeLockIfFree() == nil)
        try await first.close()
        #expect(try await second.takeLockIfFree() != nil)
        await #expect(throws: (any Error).self) { try await ledger { try $0.overview() } }
        try await second.close()
    }
}

/// An installation in a temporary tree.
private struct WorkspaceBench {
    private let tree: TemporaryTree

    init() throws {
        tree = try TemporaryTree()
        try tree.makeFolder("home/Gallery")
        try tree.makeFolder("home/Projects")
        try tree.write(
            """
            user: ana
            store: {type: directory, path: \(tree.path("store"))}
            watch:
              - {kind: gallery, path: \(tree.path("home/Gallery")), profile: grandma}
              - {kind: projects, path: \(tree.path("home/Projects"))}

            """, to: "config.yaml")
    }

    func open() throws -> Workspace {
        try Workspace(
            GlobalOptions.parse(["--config", tree.path("config.yaml").string]),
            Console(environment: ["HOME": tree.path("home").string, "XDG_STATE_HOME": tree.path("state").string]))
    }

    /// Opens all that there is, and gives all threads something to do.
    func use(_ workspace: Workspace) async throws {
        try await workspace.takeLock()
        try await workspace.store(.founds).check()
        try await workspace.readStore().check()
        try await workspace.withLedgerCopy().readStore().check()
        let threads = workspace.threads
        let lanes = ["/photos", "/films"].map { threads.intake.pool(for: FilePath($0)) }
        for pool in [threads.photos, threads.disk, threads.notices] + lanes { try await pool.run {} }
    }

    func expectNoThreads() async throws {
        // One that was joined may be listed until the kernel has done with it.
        try await eventually("the end of the threads", seen: { "\(ThreadNames.now())" }) {
            ThreadNames.now(ThreadNames.isOfProgram).isEmpty ? () : nil
        }
    }
}
