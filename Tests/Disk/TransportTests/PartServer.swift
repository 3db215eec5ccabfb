import Foundation
import SyncCore
import SyncDigest
import SyncSystem
import SyncTestSupport

/// Takes an upload in parts over loopback connections. To chosen requests it does what a test scripts.
final class PartServer: Sendable {
    enum Fault: Sendable {
        /// Answers with this in place of its own reply.
        case reply(Int, String = "")
        /// Closes the connection when the request has arrived.
        case cut
        /// Keeps a part with one bit of it flipped, and answers with the MD5 of that.
        case flip
        /// Says that the request has arrived, and answers never.
        case silence(@Sendable () -> Void)
    }

    private struct State {
        var faults: [String: [Fault]]
        var steps: [String] = []
        var heads: [String: RequestHead] = [:]
        var parts: [Int: [UInt8]] = [:]
    }

    private let state: Lock<State>
    private let listing: String
    private let tellsDigests: Bool
    private let confirmedEncryption: String?
    private let beforePart: @Sendable () -> Void

    /// - Parameters:
    ///   - faults: by step (`create`, `part 2`, `complete`, `abort`, `list`, `head`), in the order of its requests.
    ///   - leftovers: `<Upload>` elements of the listing.
    ///   - confirmedEncryption: what the reply to `create` says of it.
    ///   - tellsDigests: whether ETags are what Amazon's are.
    ///   - beforePart: called when a part has arrived, before it is answered.
    init(
        _ faults: [String: [Fault]] = [:], leftovers: String = "", confirmedEncryption: String? = nil,
        tellsDigests: Bool = false, beforePart: @escaping @Sendable () -> Void = {}
    ) {
        state = Lock(State(faults: faults))
        self.confirmedEncryption = confirmedEncryption
        self.tellsDigests = tellsDigests
        self.beforePart = beforePart
        listing = "<ListMultipartUploadsResult>\(leftovers)</ListMultipartUploadsResult>"
    }

    /// What was asked, in the order in which it was answered.
    var steps: [String] { state.withLock { $0.steps } }
    /// Those that are no parts. Each connection has a thread of its own, which may note a part that was on its way behind
    /// what the client did afterwards.
    var stepsBesideParts: [String] { steps.filter { Self.partNumber($0) == nil } }
    /// Of the last request of a step.
    func head(of step: String) -> RequestHead? { state.withLock { $0.heads[step] } }
    /// What has arrived, part after part.
    var bytes: [UInt8] { state.withLock { state in state.parts.keys.sorted().flatMap { state.parts[$0] ?? [] } } }

    func serve(_ connection: LoopbackConnection) {
        while let head = connection.readHead() {
            if head.headers["expect"] != nil { connection.write("HTTP/1.1 100 Continue\r\n\r\n") }
            let body = connection.readUpTo(head.length)
            // The client has given it up.
            guard body.count == head.length else { return }
            let step = Self.step(of: head.line)
            let fault = state.withLock { state in
                state.steps.append(step)
                state.heads[step] = head
                let fault = state.faults[step]?.isEmpty == false ? state.faults[step]?.removeFirst() : nil
                if let number = Self.partNumber(step) {
                    state.parts[number] = body
                    if case .flip = fault { state.parts[number]?[body.count / 2] ^= 1 }
                }
                return fault
            }
            if Self.partNumber(step) != nil { beforePart() }
            switch fault {
            case .cut: return
            case .silence(let arrived):
                arrived()
                return connection.waitForEnd()
            case .reply(let status, let text):
                // As every store tells of an object.
                let header = step == "head" ? "Last-Modified: Fri, 21 Dec 2012 00:00:00 GMT\r\n" : ""
                Self.answer(connection, status, text, header: header)
            case .flip, nil: answer(connection, step)
            }
        }
    }

    private func answer(_ connection: LoopbackConnection, _ step: String) {
        switch step {
        case "head": connection.write("HTTP/1.1 404 No\r\n\r\n")
        case "list": Self.answer(connection, 200, listing)
        case "abort": connection.write("HTTP/1.1 204 Gone\r\n\r\n")
        case "create":
            Self.answer(
                connection, 200,
                "<InitiateMultipartUploadResult><UploadId>up-1</UploadId></InitiateMultipartUploadResult>",
                header: confirmedEncryption.map { "x-amz-server-side-encryption: \($0)\r\n" } ?? "")
        case "complete":
            Self.answer(
                connection, 200,
                "<CompleteMultipartUploadResult><ETag>\"\(wholeTag)\"</ETag></CompleteMultipartUploadResult>")
        default:
            connection.write("HTTP/1.1 200 OK\r\nContent-Length: 0\r\nETag: \"\(tag(of: step))\"\r\n\r\n")
        }
    }

    private func tag(of step: String) -> String {
        guard tellsDigests, let number = Self.partNumber(step) else { return "tag of \(step)" }
        return state.withLock { "\(ContentDigest(of: $0.parts[number] ?? []).md5)" }
    }

    /// The MD5 of the parts' MD5s, and how many there are.
    private var wholeTag: String {
        guard tellsDigests else { return "x-3" }
        let parts = state.withLock { state in state.parts.sorted { $0.key < $1.key }.map(\.value) }
        return "\(ContentDigest(of: parts.flatMap { ContentDigest(of: $0).md5.bytes }).md5)-\(parts.count)"
    }

    private static func answer(_ connection: LoopbackConnection, _ status: Int, _ text: String, header: String = "") {
        connection.write("HTTP/1.1 \(status) Said\r\n\(header)Content-Length: \(text.utf8.count)\r\n\r\n\(text)")
    }

    /// `PUT /b/k?partNumber=2&uploadId=up-1 HTTP/1.1` is `part 2`.
    private static func step(of line: String) -> String {
        let words = line.split(separator: " ")
        let query = words[1].split(separator: "?").dropFirst().first ?? ""
        return switch (words[0], query) {
        case ("HEAD", _): "head"
        case ("GET", _): "list"
        case ("DELETE", _): "abort"
        case ("POST", "uploads="): "create"
        case ("POST", _): "complete"
        default: "part \(query.dropFirst("partNumber=".count).prefix { $0 != "&" })"
        }
    }

    private static func partNumber(_ step: String) -> Int? {
        step.hasPrefix("part ") ? Int(step.dropFirst(5)) : nil
    }
}
