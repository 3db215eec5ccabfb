import CSyncCurl
import Glibc
package import SyncCore
package import SyncSystem

/// HTTP over libcurl: one thread of its own, connections that are kept and reused, HTTP/1.1.
///
/// Proxies of the environment (`https_proxy`, `no_proxy`, …) are honoured. When the last reference goes, the thread ends
/// by itself; ``close()`` waits for it.
package final class CurlTransport: HTTPTransport {
    private let mailbox: CurlMailbox
    private let thread: OwnedThread
    /// Reads the files that are sent.
    private let bodies: SourceReads
    private let onRead: @Sendable (Int64) -> Void

    /// What holds at the moment. Asked about once a second, on the transport's thread.
    package typealias Rates = @Sendable () -> BandwidthTimetable.Rates

    /// - Parameters:
    ///   - rates: in place of the settings' limit, which is the lowest of them then.
    ///   - disks: what is known of the disks from which is sent.
    package convenience init(
        settings: TransportSettings = TransportSettings(), rates: Rates? = nil,
        disks: DiskThreads<SourceReads.Disk> = DiskThreads()
    ) throws(TransportError) {
        let bodies = BlockingPool(name: "bodies", threads: 4, abandoningAfter: SignOfLife.patienceAtEnd)
        try self.init(settings: settings, rates: rates, disks: disks, bodies: bodies, onRead: { _ in })
    }

    /// - Parameters:
    ///   - bodies: threads that read the files that are sent. Tests watch them.
    ///   - onRead: called on them before bytes are read, with their place in the file. Tests hold them there.
    init(
        settings: TransportSettings = TransportSettings(), rates: Rates? = nil,
        disks: DiskThreads<SourceReads.Disk> = DiskThreads(), bodies: BlockingPool,
        onRead: @escaping @Sendable (Int64) -> Void
    ) throws(TransportError) {
        self.bodies = SourceReads(pool: bodies, disks: disks)
        self.onRead = onRead
        let code = CSyncCurl_GlobalInit()
        guard code == 0 else {
            let reason = String(cString: CSyncCurl_CodeText(code))
            throw TransportError(.failed, "libcurl cannot be set up; install it again (\(reason))")
        }
        guard let handle = CSyncCurl_MultiCreate(Int64(settings.hostConnections)) else {
            throw TransportError(
                .failed, "libcurl cannot be set up: memory or file descriptors are short; see ulimit -n, and try again")
        }
        let multi = CurlMailbox.Multi(handle: handle)
        let mailbox = CurlMailbox(multi: multi)
        self.mailbox = mailbox
        do {
            thread = try OwnedThread.start(name: "curl") {
                var loop = CurlLoop(multi: multi, mailbox: mailbox, settings: settings, rates: rates)
                loop.run()
            }
        } catch {
            _ = mailbox.retire()
            CSyncCurl_MultiFree(handle)
            throw TransportError(.failed, "cannot start a thread: \(error)")
        }
    }

    deinit {
        mailbox.close()
    }

    package func send(_ request: HTTPRequest, target: HTTPResponseTarget) async throws -> HTTPResponse {
        if case .file? = request.body?.source {
            // The reading ends when its task is cancelled, and the request would wait for bytes for ever.
            precondition(request.isCancellable, "a request that sends a file can be cancelled")
        }
        let id = mailbox.nextID()
        defer { mailbox.forget(id) }
        guard let feed = try await FileFeed.open(request.body, by: bodies, onRead: onRead) else {
            return try await perform(request, nil, target, id)
        }
        return try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { [bodies, mailbox] in await feed.run(by: bodies) { mailbox.goOn(id) } }
            defer {
                feed.close()
                // What is being read is of no use any more, and its disk may hold it.
                group.cancelAll()
            }
            return try await perform(request, feed, target, id)
        }
    }

    private func perform(
        _ request: HTTPRequest, _ feed: FileFeed?, _ target: HTTPResponseTarget, _ id: UInt64
    ) async throws -> HTTPResponse {
        guard let patience = request.isCancellable ? Duration.zero : request.patienceAtEnd else {
            return try await submit(request, feed, target, id)
        }
        return try await withTaskCancellationHandler {
            try await submit(request, feed, target, id)
        } onCancel: {
            mailbox.cancel(id, after: patience)
        }
    }

    private func submit(
        _ request: HTTPRequest, _ feed: FileFeed?, _ target: HTTPResponseTarget, _ id: UInt64
    ) async throws -> HTTPResponse {
        try await withCheckedThrowingContinuation { reply in
            mailbox.submit(CurlMailbox.Submission(id: id, request: request, feed: feed, target: target, reply: reply))
        }
    }

    package func close() async {
        await withCheckedContinuation { mailbox.close(waiter: $0) }
        await thread.join()
        await bodies.pool.shutDown()
    }
}

/// The transport's thread: performs all transfers of one multi and sleeps in the kernel when there is nothing to do.
struct CurlLoop {
    /// curl shortens it to its own timers; wakeups end it.
    private static let longestPoll: Int32 = 60_000
    private static let failureMilliseconds: Int32 = 100

    private let multi: OpaquePointer
    private let mailbox: CurlMailbox
    private let settings: TransportSettings
    private let rates: CurlTransport.Rates?
    private var current: BandwidthTimetable.Rates
    /// When ``rates`` is asked again.
    private var nextCheck = ContinuousClock.now
    private var transfers: [UInt64: CurlTransfer] = [:]
    /// When the last transfer ended; `nil` while no connection is kept.
    private var lastEnd: ContinuousClock.Instant?

    init(
        multi: CurlMailbox.Multi, mailbox: CurlMailbox, settings: TransportSettings, rates: CurlTransport.Rates? = nil
    ) {
        self.multi = multi.handle
        self.mailbox = mailbox
        self.settings = settings
        self.rates = rates
        current = rates?() ?? BandwidthTimetable.Rates(upload: settings.uploadBytesPerSecond)
    }

    /// Returns when the mailbox was closed. It owns the multi and frees it.
    mutating func run() {
        while true {
            // Before the mailbox is looked into: what wakes the thread from here on is seen.
            closeOldConnections()
            let work = mailbox.take()
            checkRates()
            work.submissions.forEach { start($0) }
            endCancelled(work.cancelled)
            for id in work.fed { transfers[id]?.goOn() }
            if work.isClosing { break }
            var code = CSyncCurl_MultiPerform(multi)
            if code == 0 {
                reap()
                code = CSyncCurl_MultiPoll(multi, pollMilliseconds(beside: work.cancelled))
            }
            if code != 0 {
                // Out of memory or descriptors: what is under way fails, later requests get another try, without a spin.
                endAll(TransportError(.failed, "libcurl's multi interface failed with code \(code)"))
                poll(nil, 0, Self.failureMilliseconds)
            }
        }
        // The last submissions may have come between the last take and now; none comes after retire.
        let waiters = mailbox.retire()
        mailbox.take().submissions.forEach { $0.reply.resume(throwing: CurlMailbox.closed) }
        endAll(CurlMailbox.closed)
        CSyncCurl_MultiFree(multi)
        waiters.forEach { $0.resume() }
    }

    /// - Parameter cancelled: when each transfer that was cancelled ends.
    private func pollMilliseconds(beside cancelled: [UInt64: ContinuousClock.Instant]) -> Int32 {
        let nextEnd = cancelled.filter { transfers[$0.key] != nil }.values.min()
        let idleEnd = transfers.isEmpty ? lastEnd.map { $0 + settings.idleConnectionAge } : nil
        guard let next = nextEnd ?? idleEnd else { return Self.longestPoll }
        let left = (next - ContinuousClock.now) / .milliseconds(1)
        return Int32(min(max(left.rounded(.up), 0), Double(Self.longestPoll)))
    }

    private mutating func endCancelled(_ cancelled: [UInt64: ContinuousClock.Instant]) {
        if cancelled.isEmpty { return }
        let now = ContinuousClock.now
        for (id, moment) in cancelled where moment <= now { end(id, .failure(CancellationError())) }
    }

    /// Those that are too old to be used again take memory and descriptors, and mostly the server has closed them.
    private mutating func closeOldConnections() {
        guard transfers.isEmpty, let lastEnd, ContinuousClock.now - lastEnd >= settings.idleConnectionAge else {
            return
        }
        self.lastEnd = nil
        mailbox.closeConnections()
    }

    private mutating func start(_ submission: CurlMailbox.Submission) {
        do {
            let transfer = try CurlTransfer(submission, settings: settings)
            let code = CSyncCurl_MultiAdd(multi, transfer.handle)
            guard code == 0 else { throw TransportError(.failed, "curl refused a transfer with code \(code)") }
            transfers[submission.id] = transfer
            share(uploads: transfer.isUpload)
        } catch {
            submission.reply.resume(throwing: error)
        }
    }

    private mutating func reap() {
        var code: Int32 = 0
        while let handle = CSyncCurl_MultiNextDone(multi, &code) {
            guard let (id, transfer) = transfers.first(where: { $0.value.handle == handle }) else { continue }
            end(id, transfer.outcome(code: code))
        }
    }

    private mutating func endAll(_ error: TransportError) {
        for id in transfers.keys { end(id, .failure(error)) }
    }

    /// curl limits each transfer by itself (CURLOPT_MAX_SEND_SPEED_LARGE), so the limit is dealt out anew whenever an
    /// upload comes or goes, and likewise of replies. Those that wait for a connection send nothing.
    /// - Parameter isLifted: whether there was a limit a moment ago.
    private func share(uploads: Bool, isLifted: Bool = false) {
        guard let limit = uploads ? current.upload : current.download else {
            if isLifted { transfers.values.filter { $0.isUpload == uploads }.forEach { $0.limit(0) } }
            return
        }
        let transfers = transfers.values.filter { $0.isUpload == uploads }
        let share = max(limit / max(min(transfers.count, settings.hostConnections), 1), 1)
        transfers.forEach { $0.limit(Int64(share)) }
    }

    private mutating func checkRates() {
        let now = ContinuousClock.now
        guard let rates, now >= nextCheck else { return }
        nextCheck = now + .seconds(1)
        let found = rates()
        guard found != current else { return }
        current = found
        share(uploads: true, isLifted: true)
        share(uploads: false, isLifted: true)
    }

    /// Curl lets go of the transfer and its body, and only then the caller hears of it.
    private mutating func end(_ id: UInt64, _ outcome: Result<HTTPResponse, any Error>) {
        guard let transfer = transfers.removeValue(forKey: id) else { return }
        CSyncCurl_MultiRemove(multi, transfer.handle)
        lastEnd = ContinuousClock.now
        share(uploads: transfer.isUpload)
        transfer.closeBody()
        transfer.reply.resume(with: outcome)
    }
}

/// What the transport's thread is asked to do. Any thread posts, the one thread takes.
final class CurlMailbox: Sendable {
    typealias Reply = CheckedContinuation<HTTPResponse, any Error>

    struct Submission: Sendable {
        let id: UInt64
        let request: HTTPRequest
        /// The bytes of its body, where that is a file.
        let feed: FileFeed?
        let target: HTTPResponseTarget
        let reply: Reply
    }

    struct Work: Sendable {
        var submissions: [Submission] = []
        /// When each of them ends.
        var cancelled: [UInt64: ContinuousClock.Instant] = [:]
        /// Transfers whose bodies have bytes again.
        var fed: Set<UInt64> = []
        var isClosing = false
    }

    /// CSyncCurl_MultiWakeup is all that other threads do with it, under the mailbox's lock. Its connections are closed
    /// under that lock, too.
    struct Multi: @unchecked Sendable {
        let handle: OpaquePointer
    }

    private struct State {
        var lastID: UInt64 = 0
        var work = Work()
        /// `nil` once the thread has ended.
        var multi: Multi?
        var closeWaiters: [CheckedContinuation<Void, Never>] = []
    }

    private let state: Lock<State>

    init(multi: Multi) {
        state = Lock(State(multi: multi))
    }

    func nextID() -> UInt64 {
        state.withLock { state in
            state.lastID += 1
            return state.lastID
        }
    }

    func submit(_ submission: Submission) {
        let isOpen = state.withLock { state in
            guard let multi = state.multi, !state.work.isClosing else { return false }
            state.work.submissions.append(submission)
            CSyncCurl_MultiWakeup(multi.handle)
            return true
        }
        if !isOpen { submission.reply.resume(throwing: Self.closed) }
    }

    /// Also before the submission, which then ends when that time is over.
    /// - Parameter patience: how long it may still go on.
    func cancel(_ id: UInt64, after patience: Duration) {
        let end = ContinuousClock.now + patience
        state.withLock { state in
            guard let multi = state.multi else { return }
            state.work.cancelled[id] = end
            CSyncCurl_MultiWakeup(multi.handle)
        }
    }

    /// There are bytes for a transfer that has paused for want of them.
    func goOn(_ id: UInt64) {
        state.withLock { state in
            guard let multi = state.multi else { return }
            state.work.fed.insert(id)
            CSyncCurl_MultiWakeup(multi.handle)
        }
    }

    /// The transfer is over; its cancellation, if there was one, came too late.
    func forget(_ id: UInt64) {
        state.withLock { $0.work.cancelled[id] = nil }
    }

    /// Asks the thread to end.
    /// - Parameter waiter: resumed when it has.
    func close(waiter: CheckedContinuation<Void, Never>? = nil) {
        let isOver = state.withLock { state in
            guard let multi = state.multi else { return true }
            if let waiter { state.closeWaiters.append(waiter) }
            state.work.isClosing = true
            CSyncCurl_MultiWakeup(multi.handle)
            return false
        }
        if isOver { waiter?.resume() }
    }

    // MARK: The transport's thread

    /// Takes the submissions, and those to go on with; cancellations stay until they are forgotten.
    func take() -> Work {
        state.withLock { state in
            defer { (state.work.submissions, state.work.fed) = ([], []) }
            return state.work
        }
    }

    /// No transfer is under way.
    func closeConnections() {
        state.withLock { state in
            if let multi = state.multi { CSyncCurl_MultiCloseConnections(multi.handle) }
        }
    }

    /// From now on nobody wakes the multi, and it can be freed.
    func retire() -> [CheckedContinuation<Void, Never>] {
        state.withLock { state in
            state.multi = nil
            defer { state.closeWaiters = [] }
            return state.closeWaiters
        }
    }

    static let closed = TransportError(.closed, "the connection to the store was shut down")
}
