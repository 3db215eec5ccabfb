import CSyncCurl
import Glibc

/// The transport's thread: performs all transfers of one multi and sleeps in the kernel when there is nothing to do.
struct CurlLoop {
    /// curl shortens it to its own timers; wakeups end it.
    private static let pollMilliseconds: Int32 = 60_000
    private static let failureMilliseconds: Int32 = 100

    private let multi: OpaquePointer
    private let mailbox: CurlMailbox
    private let settings: TransportSettings
    private var transfers: [UInt64: CurlTransfer] = [:]

    init(multi: CurlMailbox.Multi, mailbox: CurlMailbox, settings: TransportSettings) {
        self.multi = multi.handle
        self.mailbox = mailbox
        self.settings = settings
    }

    /// Returns when the mailbox was closed. It owns the multi and frees it.
    mutating func run() {
        while true {
            let work = mailbox.take()
            work.submissions.forEach { start($0) }
            for id in work.cancelled { end(id, .failure(CancellationError())) }
            if work.isClosing { break }
            var code = CSyncCurl_MultiPerform(multi)
            if code == 0 {
                reap()
                code = CSyncCurl_MultiPoll(multi, Self.pollMilliseconds)
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

    private mutating func start(_ submission: CurlMailbox.Submission) {
        do {
            let transfer = try CurlTransfer(submission, settings: settings)
            let code = CSyncCurl_MultiAdd(multi, transfer.handle)
            guard code == 0 else { throw TransportError(.failed, "curl refused a transfer with code \(code)") }
            transfers[submission.id] = transfer
            if transfer.isUpload { shareUploadSpeed() }
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
    /// upload comes or goes. Those that wait for a connection send nothing.
    private func shareUploadSpeed() {
        guard let limit = settings.uploadBytesPerSecond else { return }
        let uploads = transfers.values.filter(\.isUpload)
        let share = max(limit / max(min(uploads.count, settings.hostConnections), 1), 1)
        uploads.forEach { $0.limit(Int64(share)) }
    }

    /// Curl lets go of the transfer, its file is closed, and only then the caller hears of it.
    private mutating func end(_ id: UInt64, _ outcome: Result<HTTPResponse, any Error>) {
        guard let transfer = transfers.removeValue(forKey: id) else { return }
        CSyncCurl_MultiRemove(multi, transfer.handle)
        if transfer.isUpload { shareUploadSpeed() }
        transfer.closeBody()
        transfer.reply.resume(with: outcome)
    }
}
