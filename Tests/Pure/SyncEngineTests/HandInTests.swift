import FoundationEssentials
import SyncCore
import SyncLedger
import SyncSystem
import SyncTestSupport
import SystemPackage
import Testing

@testable import SyncEngine

/// What is in hand while the store refuses, and is not handed in: it lies on a server that is gone.
@Suite struct HandInTests {
    private let bench: Bench
    private let clock = LeapingClock()
    private let pipe: (readEnd: FileDescriptor, writeEnd: FileDescriptor)

    init() throws {
        bench = try Bench(faults: [StoreFault(.put, numbers: 1...3, .failBefore(.noSpace))])
        for index in 1...3 { bench.disk.write("photo \(index)", to: Bench.gallery.appending("\(index).jpg")) }
        pipe = try FileDescriptor.pipe()
    }

    /// The clock goes on once all but the photo that is read for ever is handed in.
    private func letTimePass() {
        clock.allowLeap()
        bench.work.signal()
    }

    /// - Parameter isStuck: whether what is read now is read until ``letGo()``; with how many were read by then.
    private func trap(_ isStuck: @escaping @Sendable (FilePath, Int) -> Bool) {
        let readEnd = pipe.readEnd
        let read = Lock(0)
        bench.disk.onExamine { path in
            guard isStuck(path, read.add()) else { return }
            withUnsafeTemporaryAllocation(byteCount: 1, alignment: 1) { _ = try? readEnd.read(into: $0) }
        }
    }

    private func letGo() throws { try pipe.writeEnd.writeAll([0]) }

    /// Runs a pass of which all photos but one are stored while that one is read.
    private func run(storing count: Int, observe: @escaping @Sendable (PipelineEvent) -> Void) async throws {
        try bench.scan()
        let pipeline = try bench.makePipeline(batchSize: 4, time: clock.source, observe: observe)
        async let run: Void = pipeline.run(.untilDone(patience: .seconds(600)))
        let isStored = try? await eventually("the others are stored") {
            bench.memory.keys.count == count ? true : nil
        }
        #expect(isStored == true)
        try letGo()
        try await run
        #expect(bench.memory.keys.count == count + 1)
        #expect(try bench.states().values.allSatisfy { $0 == .uploaded })
    }

    @Test func `a file that was being read when the store began to refuse holds up the others for a minute`()
        async throws
    {
        bench.disk.write("stuck", to: Bench.gallery.appending("stuck.jpg"))
        trap { path, _ in path.lastComponent?.string == "stuck.jpg" }
        let handedIn = Lock(0)
        try await run(storing: 3) { _ in
            if handedIn.add() == 3 { letTimePass() }
        }
    }

    @Test func `a photo that is to show whether the store accepts, and is read for ever, gives way to another`()
        async throws
    {
        trap { _, count in
            guard count == 4 else { return false }
            letTimePass()
            return true
        }
        try await run(storing: 2) { _ in }
    }

    @Test func `what is in hand is waited for while the store refuses, for a minute at most`() throws {
        try bench.scan()
        let claims = try bench.ledger.claim(limit: 3, at: bench.time.now)
        var state = PipelineState()
        func wait(_ isRefusing: Bool = true, trial: Int64? = nil, at now: Duration) -> Duration? {
            state.handInWait(isRefusing, trial, at: now)
        }
        state.note(.photos(Array(claims.prefix(2))))
        let limit = PhotoPipeline.handInLimit
        #expect(wait(false, at: .zero) == nil)
        #expect(wait(at: .seconds(5)) == limit)
        #expect(wait(at: .seconds(15)) == limit - .seconds(10))
        #expect(wait(at: limit + .seconds(5)) == nil)
        #expect(state.isPassedOver(claims[0].photoID) && state.isPassedOver(claims[1].photoID))
        // The next one has its own minute.
        state.note(.photos([claims[2]]))
        #expect(wait(trial: claims[2].photoID, at: limit * 2) == limit)
        #expect(!state.isPassedOver(claims[2].photoID))
        state.noteCommitted(claims[2], .released)
        #expect(wait(at: limit * 2) == nil)
        state.noteCommitted(claims[0], .released)
        #expect(!state.isPassedOver(claims[0].photoID))
    }
}

/// A clock on which short sleeps are over at once, and of long ones a single one, once it is allowed: the first that
/// takes as long as what is in hand is waited for. The others last until they are cancelled.
private final class LeapingClock: Sendable {
    private struct State {
        var elapsed: Duration = .zero
        var mayLeap = false
    }

    private let standing = ManualTime()
    private let state = Lock(State())

    func allowLeap() { state.withLock { $0.mayLeap = true } }

    var source: TimeSource {
        TimeSource(
            now: { self.standing.now.addingTimeInterval(self.state.withLock { $0.elapsed } / .seconds(1)) },
            monotonic: { self.state.withLock { $0.elapsed } },
            sleep: { duration in
                try Task.checkCancellation()
                let isOver = self.state.withLock { state in
                    let isLeap = state.mayLeap && duration == PhotoPipeline.handInLimit
                    if isLeap { state.mayLeap = false }
                    if isLeap || duration <= .seconds(10) { state.elapsed += duration }
                    return isLeap || duration <= .seconds(10)
                }
                if !isOver { try await self.standing.source.sleep(duration) }
            }, random: { 1 })
    }
}
