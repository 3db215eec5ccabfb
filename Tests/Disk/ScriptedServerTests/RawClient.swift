import Foundation
import Glibc
import SyncCore
import SyncDigest
import SyncSystem
import SyncTestSupport

/// A client that writes what a test tells it and shows what comes back, down to where the connection broke. It signs by
/// its own few lines, so that neither the program's signer nor the server's is the other's judge.
struct RawClient: Sendable {
    private static let pool = BlockingPool(name: "raw-client", threads: 4)

    let server: ScriptedS3Server
    var credentials = ServerCredentials.usual
    var region = "eu-central-1"
    /// The time that is signed.
    var now: Date?
    /// `nil` for the server's own.
    var bucket: String?

    /// A signed request of the bucket.
    /// - Parameters:
    ///   - path: percent-encoded, below the bucket.
    ///   - query: percent-encoded and sorted.
    ///   - headers: all of them are signed, but those of `unsigned`.
    ///   - unsigned: added, or put in place of what was signed.
    func send(
        _ method: String, _ path: String = "", query: String = "", headers: [String: String] = [:], body: String = "",
        unsigned: [String: String] = [:]
    ) async throws -> RawReply {
        let target = "/\(bucket ?? server.bucket)/\(path)"
        var all = headers
        all["host"] = "127.0.0.1:\(server.port)"
        all["x-amz-content-sha256"] = headers["x-amz-content-sha256"] ?? "\(SHA256Digest(of: body.utf8))"
        all["x-amz-date"] = Self.timestamp(now ?? server.now)
        all["x-amz-security-token"] = credentials.sessionToken
        all["authorization"] = authorization(method, target, query: query, headers: all)
        if method != "GET", method != "HEAD" { all["content-length"] = "\(body.utf8.count)" }
        all.merge(unsigned) { $1 }
        let lines = all.filter { !$0.value.isEmpty }.map { "\($0.key): \($0.value)\r\n" }
        let head = "\(method) \(target)\(query.isEmpty ? "" : "?\(query)") HTTP/1.1\r\n\(lines.joined())\r\n"
        return try await exchange(head + body)
    }

    /// Sends text as it is, and reads until a reply is whole or the connection ends.
    func exchange(_ text: String) async throws -> RawReply {
        let port = server.port
        return try await Self.pool.run {
            let connection = try RawConnection(port: port)
            connection.write(text)
            return connection.readReply(toHead: text.hasPrefix("HEAD"))
        }
    }

    /// Several texts over one connection, each after the reply to the one before.
    func exchange(inTurn texts: [String]) async throws -> [RawReply] {
        let port = server.port
        return try await Self.pool.run {
            let connection = try RawConnection(port: port)
            return texts.map { text in
                connection.write(text)
                return connection.readReply(toHead: text.hasPrefix("HEAD"))
            }
        }
    }

    private static func timestamp(_ date: Date) -> String {
        date.formatted(
            Date.ISO8601FormatStyle(
                dateSeparator: .omitted, dateTimeSeparator: .standard, timeSeparator: .omitted, timeZone: .gmt))
    }

    private func authorization(
        _ method: String, _ path: String, query: String, headers: [String: String]
    ) -> String {
        let timestamp = headers["x-amz-date"] ?? ""
        let names = headers.keys.sorted().joined(separator: ";")
        let lines = headers.sorted { $0.key < $1.key }.map { "\($0.key):\($0.value)\n" }.joined()
        let items = query.split(separator: "&").map { $0.contains("=") ? "\($0)" : "\($0)=" }.joined(separator: "&")
        let canonical = [method, path, items, lines, names, headers["x-amz-content-sha256"] ?? ""]
        let scope = "\(timestamp.prefix(8))/\(region)/s3/aws4_request"
        let digest = SHA256Digest(of: canonical.joined(separator: "\n").utf8)
        var key = Array("AWS4\(credentials.secretAccessKey)".utf8)
        for part in scope.split(separator: "/") { key = HMACSHA256.code(of: part, key: key) }
        let signature = HMACSHA256.code(of: "AWS4-HMAC-SHA256\n\(timestamp)\n\(scope)\n\(digest)", key: key).hexadecimal
        return "AWS4-HMAC-SHA256 Credential=\(credentials.accessKeyID)/\(scope), "
            + "SignedHeaders=\(names), Signature=\(signature)"
    }
}
