import CSyncCurl
import SyncCore

/// What goes over the wire for one request: the callbacks of curl write the reply in here and read the body from here.
/// Belongs to the transport's thread.
final class CurlExchange {
    var upload: UploadSource?
    /// Bytes of the body that curl has taken to send.
    private(set) var sentBytes: Int64 = 0
    private(set) var response = HTTPResponse(status: 0)
    /// Whether the reply's head has come to its end. curl takes a connection that is closed within it for a reply.
    private(set) var hasHead = false
    /// Why a callback ended the transfer; the caller hears of it in place of curl's "aborted by callback".
    private(set) var failure: (any Error)?
    /// Bytes of all heads of the reply; S3's have a few kilobytes. curl itself bounds them only from 8.3 on.
    private static let headLimit = 256 << 10
    private var headLength = 0
    private let target: HTTPResponseTarget
    /// Whether the sink takes this reply; asked once, at its first byte.
    private var isForSink: Bool?

    init(body: HTTPBody?, target: HTTPResponseTarget) throws(TransportError) {
        self.target = target
        upload = if let body { try UploadSource(body) } else { nil }
    }

    static let callbacks = CSyncCurl_Callbacks(
        read: { context, buffer, capacity in
            CurlExchange.at(context).read(into: UnsafeMutableRawBufferPointer(start: buffer, count: capacity))
        },
        seek: { context, offset in
            CurlExchange.at(context).upload?.rewind(to: offset) == true ? 1 : 0
        },
        write: { context, bytes, count in
            CurlExchange.at(context).write(UnsafeRawBufferPointer(start: bytes, count: count)) ? 1 : 0
        },
        header: { context, bytes, count in
            CurlExchange.at(context).header(UnsafeRawBufferPointer(start: bytes, count: count)) ? 1 : 0
        }
    )

    private static func at(_ context: UnsafeMutableRawPointer) -> CurlExchange {
        Unmanaged<CurlExchange>.fromOpaque(context).takeUnretainedValue()
    }

    private func read(into buffer: UnsafeMutableRawBufferPointer) -> Int64 {
        do throws(TransportError) {
            let count = Int64(try upload?.read(into: buffer) ?? 0)
            sentBytes += count
            return count
        } catch {
            failure = error
            return -1
        }
    }

    /// A status line begins the reply anew: one of 1xx was not the last.
    private func header(_ bytes: UnsafeRawBufferPointer) -> Bool {
        headLength += bytes.count
        guard headLength <= Self.headLimit else {
            failure = TransportError(.invalidReply, "the head of the reply is longer than \(Self.headLimit) bytes")
            return false
        }
        let line = String(decoding: bytes, as: UTF8.self).trimmingLineEnd()
        if line.hasPrefix("HTTP/") {
            let status = line.split(separator: " ").dropFirst().first.flatMap { Int($0) }
            response = HTTPResponse(status: status ?? 0)
            isForSink = nil
            hasHead = false
        } else if line.isEmpty {
            hasHead = true
        } else if let colon = line.firstIndex(of: ":") {
            let value = line[line.index(after: colon)...].drop { $0 == " " || $0 == "\t" }
            response.headers.append(String(line[..<colon]), String(value))
        }
        return true
    }

    private func write(_ bytes: UnsafeRawBufferPointer) -> Bool {
        switch target {
        case .sink(let accepts, let sink):
            let isForSink = isForSink ?? accepts(response)
            self.isForSink = isForSink
            guard isForSink else { return keep(bytes, limit: HTTPResponseTarget.errorLimit) }
            do {
                try sink(bytes)
                return true
            } catch {
                failure = error
                return false
            }
        case .memory(let limit): return keep(bytes, limit: limit)
        }
    }

    private func keep(_ bytes: UnsafeRawBufferPointer, limit: Int) -> Bool {
        guard response.body.count + bytes.count <= limit else {
            failure = TransportError(.invalidReply, "the reply is longer than \(limit) bytes")
            return false
        }
        response.body.append(contentsOf: bytes)
        return true
    }
}

extension String {
    fileprivate func trimmingLineEnd() -> Substring {
        var line = self[...]
        while let last = line.last, last.isWhitespace { line.removeLast() }
        return line
    }
}
