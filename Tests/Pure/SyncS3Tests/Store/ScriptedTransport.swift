import SyncCore
import SyncSystem

@testable import SyncS3

/// Answers requests from a script, in order, and keeps what was asked. A request beyond the script fails.
final class ScriptedTransport: HTTPTransport {
    enum Answer: Sendable {
        case reply(Int, HTTPHeaders = [:], String = "")
        case failure(TransportError)

        static func error(_ status: Int, _ code: String, headers: HTTPHeaders = [:]) -> Answer {
            .reply(status, headers, "<Error><Code>\(code)</Code></Error>")
        }
    }

    private struct State {
        var answers: [Answer]
        var requests: [HTTPRequest] = []
    }

    private let state: Lock<State>

    init(_ answers: [Answer]) {
        state = Lock(State(answers: answers))
    }

    var requests: [HTTPRequest] { state.withLock { $0.requests } }

    /// `HEAD /b/a`, as a table of expected requests has them.
    var lines: [String] { requests.map { "\($0.method.rawValue) \($0.url.path)" } }

    func send(_ request: HTTPRequest, target: HTTPResponseTarget) async throws -> HTTPResponse {
        let answer = state.withLock { state in
            state.requests.append(request)
            return state.answers.isEmpty
                ? .failure(TransportError(.failed, "not in the script")) : state.answers.removeFirst()
        }
        switch answer {
        case .failure(let error): throw error
        case .reply(let status, let headers, let text):
            var response = HTTPResponse(status: status, headers: headers)
            let body = Array(text.utf8)
            // As curl: nobody is asked about an empty reply.
            if case .sink(let accepts, let sink) = target, !body.isEmpty, accepts(response) {
                try body.withUnsafeBytes { try sink($0) }
            } else {
                response.body = body
            }
            return response
        }
    }

    func close() async {}
}

extension HTTPRequest {
    /// The body, where it is in memory.
    var text: String {
        guard case .bytes(let bytes) = body?.source else { return "" }
        return String(decoding: bytes, as: UTF8.self)
    }
}
