import CSyncCurl
import SyncSystem

/// HTTP over libcurl: one thread of its own, connections that are kept and reused, HTTP/1.1.
///
/// Proxies of the environment (`https_proxy`, `no_proxy`, …) are honoured. When the last reference goes, the thread ends
/// by itself; ``close()`` waits for it.
package final class CurlTransport: HTTPTransport {
    private let mailbox: CurlMailbox
    private let thread: OwnedThread

    package init(settings: TransportSettings = TransportSettings()) throws(TransportError) {
        let code = CSyncCurl_GlobalInit()
        guard code == 0, let handle = CSyncCurl_MultiCreate(Int64(settings.hostConnections)) else {
            throw TransportError(.failed, "libcurl cannot be set up: \(String(cString: CSyncCurl_CodeText(code)))")
        }
        let multi = CurlMailbox.Multi(handle: handle)
        let mailbox = CurlMailbox(multi: multi)
        self.mailbox = mailbox
        do {
            thread = try OwnedThread.start(name: "curl") {
                var loop = CurlLoop(multi: multi, mailbox: mailbox, settings: settings)
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
        let id = mailbox.nextID()
        defer { mailbox.forget(id) }
        guard request.isCancellable else { return try await submit(request, target, id) }
        return try await withTaskCancellationHandler {
            try await submit(request, target, id)
        } onCancel: {
            mailbox.cancel(id)
        }
    }

    private func submit(
        _ request: HTTPRequest, _ target: HTTPResponseTarget, _ id: UInt64
    ) async throws -> HTTPResponse {
        try await withCheckedThrowingContinuation { reply in
            mailbox.submit(CurlMailbox.Submission(id: id, request: request, target: target, reply: reply))
        }
    }

    package func close() async {
        await withCheckedContinuation { mailbox.close(waiter: $0) }
        await thread.join()
    }
}
