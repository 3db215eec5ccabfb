import FoundationEssentials
import Glibc
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

/// One answer on its way. What is sent has left for the kernel when the call returns.
struct Exchange: Sendable {
    let channel: any Channel
    let request: IncomingRequest
    /// Whether the connection ends with it.
    let isLast: Bool

    func send(_ response: WebResponse, _ bytes: Data) async throws {
        write(response, length: Int64(bytes.count))
        if hasBody(response.status), !bytes.isEmpty {
            channel.write(HTTPServerResponsePart.body(.byteBuffer(ByteBuffer(bytes: bytes))), promise: nil)
        }
        try await end()
    }

    /// - Parameter length: bytes of the body; `nil` when nobody knows.
    func begin(_ response: WebResponse, length: Int?) async throws {
        write(response, length: length.map(Int64.init))
        channel.flush()
    }

    func send(_ bytes: ByteBuffer) async throws {
        try await channel.writeAndFlush(HTTPServerResponsePart.body(.byteBuffer(bytes))).get()
    }

    func end() async throws {
        try await channel.writeAndFlush(HTTPServerResponsePart.end(nil)).get()
    }

    /// RFC 9110, 6.4.1.
    func hasBody(_ status: Int) -> Bool {
        !request.isHead && status != 204 && status != 304
    }

    private func write(_ response: WebResponse, length: Int64?) {
        var headers = HTTPHeaders(response.headers.map { ($0.name, $0.value) })
        for name in ["content-length", "transfer-encoding", "connection"] { headers.remove(name: name) }
        headers.replaceOrAdd(name: "date", value: HTTPDate.text(Date()))
        headers.replaceOrAdd(name: "x-content-type-options", value: "nosniff")
        var closes = isLast
        if let length {
            if response.status != 204 && response.status != 304 {
                headers.add(name: "content-length", value: "\(length)")
            }
        } else if request.version == .http1_0 {
            closes = true
        } else if hasBody(response.status) {
            headers.add(name: "transfer-encoding", value: "chunked")
        }
        if closes {
            headers.add(name: "connection", value: "close")
        } else if request.version == .http1_0 {
            headers.add(name: "connection", value: "keep-alive")
        }
        let head = HTTPResponseHead(
            version: request.version, status: HTTPResponseStatus(statusCode: response.status), headers: headers)
        channel.write(HTTPServerResponsePart.head(head), promise: nil)
    }
}

/// What of a file is answered (RFC 9110, 13 and 14).
struct FilePlan {
    private(set) var response: WebResponse
    /// Bytes.
    private(set) var range: Range<Int64>

    /// - Parameter response: the handler's. Only a 200 is made another.
    init(_ stamp: FileStamp, _ response: WebResponse, _ request: WebRequest) {
        let tag = Self.tag(stamp)
        self.response = response
        range = 0..<stamp.size
        self.response.headers += [WebRequest.Field("etag", tag), WebRequest.Field("accept-ranges", "bytes")]
        guard response.status == 200 else { return }
        if let known = request.header("if-none-match"), Self.names(known, tag) {
            self.response.status = 304
            return
        }
        // A part of another state of the file would be put beside what the client has.
        let isSame = request.header("if-range").map { $0 == tag } ?? true
        guard request.method == .get, isSame, let asked = request.header("range").flatMap(AskedRange.init) else {
            return
        }
        let part = asked.range(in: stamp.size)
        range = part ?? 0..<0
        self.response.status = part == nil ? 416 : 206
        let told = part.map { "\($0.lowerBound)-\($0.upperBound - 1)" } ?? "*"
        self.response.headers.append(WebRequest.Field("content-range", "bytes \(told)/\(stamp.size)"))
    }

    /// Another one for each state of the file that can be told without reading it.
    static func tag(_ stamp: FileStamp) -> String {
        let parts = [UInt64(bitPattern: stamp.size), UInt64(bitPattern: stamp.modified), stamp.inode]
        return "\"\(parts.map { String($0, radix: 16) }.joined(separator: "-"))\""
    }

    /// Whether `If-None-Match` has the tag, weak or not.
    private static func names(_ known: String, _ tag: String) -> Bool {
        known == "*"
            || known.split(separator: ",").contains { entry in
                let entry = entry.drop { $0 == " " || $0 == "\t" }.prefix { $0 != " " && $0 != "\t" }
                return (entry.hasPrefix("W/") ? entry.dropFirst(2) : entry) == tag
            }
    }
}

/// `Range` with one range. Several, or what cannot be read, is no range at all: all of the file is the answer.
struct AskedRange: Hashable {
    private let first: Int64?
    private let last: Int64?

    init?(_ text: String) {
        guard let unit = text.firstRange(of: "="), text[..<unit.lowerBound].lowercased() == "bytes" else { return nil }
        let parts = text[unit.upperBound...].split(separator: "-", omittingEmptySubsequences: false)
        guard parts.count == 2, parts.joined().utf8.allSatisfy(\.isDigit) else { return nil }
        // A number that is too large is beyond the end of any file.
        let numbers = parts.map { $0.isEmpty ? nil : Int64($0) ?? .max }
        (first, last) = (numbers[0], numbers[1])
        if let first, let last, last < first { return nil }
        if first == nil && last == nil { return nil }
    }

    /// - Returns: `nil` when the file has none of it.
    func range(in size: Int64) -> Range<Int64>? {
        guard let first else {
            let count = min(last ?? 0, size)
            return count > 0 ? size - count..<size : nil
        }
        guard first < size else { return nil }
        return first..<min(last.map { $0 == .max ? size : $0 + 1 } ?? size, size)
    }
}

/// An open file, for threads that may block. Whoever opens it closes it.
struct ServedFile: Sendable {
    /// Bytes of it that are in memory at once, for each connection.
    static let pieceLength: Int64 = 256 << 10

    let stamp: FileStamp
    private let descriptor: SystemPackage.FileDescriptor

    /// - Returns: `nil` where there is no file that can be read. A link at the end of the path is none.
    init?(_ path: FilePath) {
        // Without waiting, as the open of a pipe does.
        let options: SystemPackage.FileDescriptor.OpenOptions = [.noFollow, .nonBlocking, .closeOnExec]
        guard let descriptor = try? SystemPackage.FileDescriptor.opened(path, .readOnly, options) else { return nil }
        guard let status = try? FileStatus(of: descriptor), status.kind == .file else {
            try? descriptor.close()
            return nil
        }
        (stamp, self.descriptor) = (status.stamp, descriptor)
    }

    /// - Parameter isLast: nothing is read when the length is another by now.
    /// - Returns: `nil` when the file does not have them any more, or cannot be read.
    func read(_ piece: Range<Int64>, isLast: Bool) -> ByteBuffer? {
        var bytes = ByteBuffer()
        var offset = piece.lowerBound
        while offset < piece.upperBound {
            let count = try? bytes.writeWithUnsafeMutableBytes(minimumWritableBytes: Int(piece.upperBound - offset)) {
                let rest = UnsafeMutableRawBufferPointer(rebasing: $0[..<Int(piece.upperBound - offset)])
                return try descriptor.read(at: offset, into: rest)
            }
            guard let count, count > 0 else { return nil }
            offset += Int64(count)
        }
        if isLast, (try? FileStatus(of: descriptor))?.stamp.size != stamp.size { return nil }
        return bytes
    }

    func close() {
        try? descriptor.close()
    }
}

/// Moments as RFC 9110, 5.6.7 writes them: `Sun, 06 Nov 1994 08:49:37 GMT`.
enum HTTPDate {
    private static let days = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]
    private static let months = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]

    static func text(_ date: Date) -> String {
        var seconds = time_t(date.timeIntervalSince1970)
        var parts = tm()
        gmtime_r(&seconds, &parts)
        let clock = [parts.tm_hour, parts.tm_min, parts.tm_sec].map { $0.padded(to: 2) }.joined(separator: ":")
        return "\(days[Int(parts.tm_wday)]), \(parts.tm_mday.padded(to: 2)) \(months[Int(parts.tm_mon)]) "
            + "\(parts.tm_year + 1_900) \(clock) GMT"
    }
}
