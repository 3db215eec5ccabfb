import FoundationEssentials
import SyncCore
import SyncEngine
import SyncSystem
import SyncTestSupport
import SystemPackage

/// Another machine, with a mirror of each share that its person was told of, in folders of the system's.
final class FriendsMachine {
    private let tree: TemporaryTree
    private let clock: LifeClock
    private let memory: InMemoryStore

    init(beside home: Home) throws {
        tree = try TemporaryTree(in: .memory)
        clock = home.clock
        memory = home.memory
    }

    /// Brings the mirror of a share up to it.
    /// - Parameter trouble: what the store does meanwhile.
    func mirror(_ share: ShareID, _ trouble: Trouble?) async throws -> MirrorResult {
        let store = FaultyStore(memory) { call in trouble?.effects(of: call, kill: {}) ?? [] }
        let clock = clock
        // No time goes by while it waits: what is fetched side by side would take it in no certain order.
        let time = TimeSource(
            now: { clock.now }, monotonic: { clock.elapsed }, sleep: { _ in try Task.checkCancellation() },
            random: { 0.5 })
        let pool = BlockingPool(name: "mirror", threads: 1)
        let mirror = ShareMirror(
            StoredShareSource(share, in: store), asked: share, to: tree.path("\(share)"), pool: pool,
            policy: RetryPolicy(maximumAttempts: 2), time: time)
        do {
            let result = try await mirror.run()
            await pool.shutDown()
            return result
        } catch {
            await pool.shutDown()
            throw error
        }
    }

    // MARK: What is there

    /// Photos in the mirror of a share, by their names. What begins with a dot is no photo yet.
    func photos(of share: ShareID) throws -> [String: [UInt8]] {
        let folder = "\(share)/"
        var photos: [String: [UInt8]] = [:]
        for file in try tree.files() where file.hasPrefix(folder) && file.hasSuffix(".jpg") {
            let name = String(file.dropFirst(folder.count))
            if !name.hasPrefix(".") { photos[name] = try tree.read(file) }
        }
        return photos
    }

    // MARK: What its person does

    func write(_ text: String, to name: String, of share: ShareID) throws {
        try tree.write(text, to: "\(share)/\(name)")
    }

    func remove(_ name: String, of share: ShareID) throws { try tree.path("\(share)/\(name)").unlink() }
}
