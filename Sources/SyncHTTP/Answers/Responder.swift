import FoundationEssentials
import Logging
import NIOCore
import NIOHTTP1
import SyncCore
import SyncSystem
import SystemPackage

/// Asks the handler, and sends what it answers.
struct Responder: Sendable {
    let handler: any WebHandler
    /// Where files are read.
    let files: BlockingPool
    let logger: Logger

    /// The answer has an end that its client would not see.
    struct CutShort: Error {}

    /// - Returns: whether the connection goes on.
    /// - Throws: when it cannot.
    func answer(_ incoming: IncomingRequest, on channel: any Channel) async throws -> Bool {
        let (request, response): (WebRequest, WebResponse)
        switch incoming.content {
        case .request(let whole):
            (request, response) = (whole, await handler.answer(whole))
            incoming.room?.giveBack()
        case .refused(let status):
            (request, response) = (WebRequest(incoming.isHead ? .head : .get, []), Self.refusal(status))
        }
        log(incoming, response.status)
        // The task is cancelled when the server ends.
        let exchange = Exchange(channel: channel, request: incoming, isLast: !incoming.isKeptAlive || Task.isCancelled)
        switch response.body {
        case .bytes(let bytes): try await exchange.send(response, bytes)
        case .file(let path): try await sendFile(path, response, request, exchange)
        case .stream(let pieces): try await sendStream(pieces, response, exchange)
        }
        return !exchange.isLast && !(response.isEndless && incoming.version == .http1_0)
    }

    private static func refusal(_ status: Int) -> WebResponse {
        var headers = [WebRequest.Field("content-type", "text/plain; charset=utf-8")]
        if status == 405 { headers.append(WebRequest.Field("allow", "GET, HEAD, POST")) }
        let reason = HTTPResponseStatus(statusCode: status).reasonPhrase
        return WebResponse(status, headers: headers, body: .bytes(Data("\(status) \(reason)\n".utf8)))
    }

    private func log(_ incoming: IncomingRequest, _ status: Int) {
        switch incoming.content {
        case .request(let request):
            let path = ("/" + request.segments.joined(separator: "/")).escapingControls
            logger.debug(
                "answered", metadata: ["method": "\(request.method)", "path": "\(path)", "status": "\(status)"])
        case .refused: logger.debug("refused a request", metadata: ["status": "\(status)"])
        }
    }

    private func sendStream(
        _ pieces: AsyncStream<Data>, _ response: WebResponse, _ exchange: Exchange
    ) async throws {
        do {
            try await exchange.begin(response, length: nil)
            if exchange.hasBody(response.status) {
                for await piece in pieces where !piece.isEmpty { try await exchange.send(ByteBuffer(bytes: piece)) }
            }
            try await exchange.end()
        } catch {
            await end(pieces)
            throw error
        }
        await end(pieces)
    }

    /// Tells whoever makes the pieces that nobody takes any more: a reader that is cancelled ends a stream.
    private func end(_ pieces: AsyncStream<Data>) async {
        await withDiscardingTaskGroup { group in
            group.addTask { for await _ in pieces {} }
            group.cancelAll()
        }
    }

    private func sendFile(
        _ path: FilePath, _ response: WebResponse, _ request: WebRequest, _ exchange: Exchange
    ) async throws {
        guard let file = await files.finish({ ServedFile(path) }) else {
            return try await exchange.send(Self.refusal(404), Data())
        }
        do {
            let plan = FilePlan(file.stamp, response, request)
            try await exchange.begin(plan.response, length: plan.range.count)
            if exchange.hasBody(plan.response.status) { try await send(plan.range, of: file, exchange) }
            try await exchange.end()
        } catch {
            await files.finish { file.close() }
            throw error
        }
        await files.finish { file.close() }
    }

    private func send(_ range: Range<Int64>, of file: ServedFile, _ exchange: Exchange) async throws {
        var offset = range.lowerBound
        while offset < range.upperBound {
            let piece = offset..<min(offset + ServedFile.pieceLength, range.upperBound)
            // The last one is sent only when the file is still as long as it was told: else nobody would see it.
            let isLast = piece.upperBound == range.upperBound
            guard let bytes = await files.finish({ file.read(piece, isLast: isLast) }) else { throw CutShort() }
            try await exchange.send(bytes)
            offset = piece.upperBound
        }
    }
}

extension WebResponse {
    fileprivate var isEndless: Bool { if case .stream = body { true } else { false } }
}
