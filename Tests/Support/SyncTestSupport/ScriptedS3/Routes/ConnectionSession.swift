import SyncCore
import SyncSystem

/// The exchanges of one connection, one after another, each with its fault. Belongs to the connection's thread.
struct ConnectionSession {
    private let server: ScriptedS3Server
    private let connection: LoopbackConnection
    private let number: Int

    init(server: ScriptedS3Server, connection: LoopbackConnection) {
        self.server = server
        self.connection = connection
        number = server.state.withLock { state in
            state.connections += 1
            return state.connections
        }
    }

    func run() {
        do {
            while let bytes = connection.readHeadBytes() {
                guard let head = RequestHead(bytes) else {
                    try connection.write(Array("HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n".utf8))
                    return connection.finish()
                }
                guard try exchange(head) else { return connection.finish() }
            }
        } catch {
            // The peer is gone, or a fault ended the connection: closing it is all that is left to do.
        }
    }

    /// - Returns: whether the connection serves a further request.
    private func exchange(_ head: RequestHead) throws(LoopbackConnection.End) -> Bool {
        let request: S3Request
        do throws(S3Failure) {
            request = try S3Request(head)
        } catch {
            try send(error.reply(requestID: "0"), to: head, fault: nil, closes: true)
            return false
        }
        var record = server.state.withLock { $0.begin(request, connection: number) }
        let length = head["content-length"].flatMap { Int($0) }
        let isOpenEnded = length == nil && (head["transfer-encoding"] != nil || head.method == "PUT")
        let closes = head["connection"]?.lowercased() == "close"

        if let answer = try pass(.beforeBody, record.fault) {
            return try refuse(answer, &record, head, closes: closes || isOpenEnded || length ?? 0 > 0)
        }
        let permission = server.permission(for: request, length: length)
        if case .failure(let failure) = permission, isOpenEnded || head["expect"] != nil {
            return try refuse(failure, &record, head, closes: true)
        }
        if head["expect"]?.lowercased() == "100-continue" {
            try connection.write(Array("HTTP/1.1 100 Continue\r\n\r\n".utf8))
        }
        let body = try readBody(length ?? 0, &record)

        var reply = try afterBody(record) ?? server.reply(to: request, body, permission, record)
        if let answer = try pass(.beforeReply, record.fault) { reply = answer.reply(requestID: Self.id(record)) }
        note(reply, &record)
        try send(reply, to: head, fault: record.fault, closes: closes)
        _ = try pass(.afterReply, record.fault)
        return !closes
    }

    private func afterBody(_ record: RequestRecord) throws(LoopbackConnection.End) -> ServerReply? {
        try pass(.afterBody, record.fault)?.reply(requestID: Self.id(record))
    }

    /// An answer before the body is read: what still comes is thrown away, and the connection ends.
    private func refuse(
        _ failure: S3Failure, _ record: inout RequestRecord, _ head: RequestHead, closes: Bool
    ) throws(LoopbackConnection.End) -> Bool {
        let reply = failure.reply(requestID: Self.id(record))
        note(reply, &record)
        try send(reply, to: head, fault: record.fault, closes: closes)
        return !closes
    }

    private func readBody(
        _ length: Int, _ record: inout RequestRecord
    ) throws(LoopbackConnection.End) -> [UInt8] {
        guard let point = record.fault?.point, case .duringBody(let count) = point else {
            let body = try connection.readBody(length)
            record.received = length
            server.state.withLock { $0.note(record) }
            return body
        }
        let stop = min(count, length)
        var body = try connection.readBody(stop)
        record.received = stop
        server.state.withLock { $0.note(record) }
        _ = try pass(point, record.fault)
        body += try connection.readBody(length - stop)
        return body
    }

    private func note(_ reply: ServerReply, _ record: inout RequestRecord) {
        record.status = reply.status
        record.code = reply.code
        record.sent = reply.body.count
        server.state.withLock { $0.note(record) }
    }

    /// Lets a fault of this point happen.
    /// - Returns: what is to be answered instead.
    private func pass(_ point: Fault.Point, _ fault: Fault?) throws(LoopbackConnection.End) -> S3Failure? {
        guard let fault, fault.point == point else { return nil }
        switch fault {
        case .answer(let answer, _): return answer.failure
        case .cut: break
        case .reset: connection.resetOnClose()
        case .stall: connection.stall()
        default: return nil
        }
        throw LoopbackConnection.End()
    }

    private func send(
        _ reply: ServerReply, to head: RequestHead, fault: Fault?, closes: Bool
    ) throws(LoopbackConnection.End) {
        let hasBody = head.method != "HEAD"
        let bytes = reply.head(common: server.commonHeaders, hasBody: hasBody, closes: closes)
        switch fault?.point {
        case .duringReplyHead:
            try connection.write(Array(bytes.prefix(bytes.count / 2)))
            _ = try pass(.duringReplyHead, fault)
        case .afterReplyHead:
            try connection.write(bytes)
            _ = try pass(.afterReplyHead, fault)
        case .duringReply(let count)?:
            try connection.write(bytes + (hasBody ? reply.content.prefix(count) : []))
            _ = try pass(.duringReply(count), fault)
        default:
            try connection.write(bytes + (hasBody ? reply.content : []))
        }
    }

    private static func id(_ record: RequestRecord) -> String { ScriptedS3Server.requestID(record.number) }
}

extension Fault {
    /// `nil` where the fault changes what is answered, not how.
    fileprivate var point: Point? {
        switch self {
        case .answer(_, let point), .cut(let point), .reset(let point), .stall(let point): point
        default: nil
        }
    }
}
