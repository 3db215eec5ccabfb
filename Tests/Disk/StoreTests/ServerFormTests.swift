import FoundationEssentials
import SyncS3
import SyncTestSupport
import Testing

@testable import SyncCore

/// Whether real servers take what an upload form lets a browser send, and nothing else.
@Suite struct ServerFormTests {
    /// What somebody makes of a form.
    enum Attempt: String, Sendable, CaseIterable {
        case asAllowed, tooLarge, otherType, otherKey, otherBucketKey, expired

        var isAllowed: Bool { self == .asAllowed }
    }

    @Test(arguments: TestServer.available.filter(\.takesForms), Attempt.allCases)
    func `a form puts one object of its kind and size, under its key, until it ends`(
        server: TestServer, attempt: Attempt
    ) async throws {
        let now = Date()
        let store = try server.newStore(now: { attempt == .expired ? now - 100 : now })
        let transport = try CurlTransport(settings: TransportSettings())
        let folder = "form-\(UUID())"
        let keys = try (0..<3).map { try ObjectKey("\(folder)/\($0)") }
        let form = try await store.uploadForm(
            for: keys, UploadRules(mostBytes: 100, contentType: "image/"), lasting: .seconds(60))
        #expect(form.keyPrefix == "\(folder)/" && form.slots.map(\.name) == ["0", "1", "2"])
        let browser = Browser(form: form, transport: transport)
        let body = String(repeating: "a", count: attempt == .tooLarge ? 101 : 100)
        let look = try await browser.check(1)
        let status = try await browser.send(
            body, type: attempt == .otherType ? "text/html" : "image/jpeg", by: 1,
            as: attempt == .otherKey ? "\(folder)/2" : attempt == .otherBucketKey ? "users/ana" : nil)
        let listed = try await store.list(prefix: "\(folder)/", after: nil, limit: 10).objects.map(\.key)
        if attempt == .expired {
            #expect(server.checksLooks == (look == 403))
        } else {
            #expect(look == 404)
        }
        if attempt.isAllowed {
            #expect((200..<300).contains(status) && listed == [keys[1]])
            let stored = try await store.bytes(of: keys[1])
            #expect(String(decoding: stored, as: UTF8.self) == body)
            #expect(try await browser.check(1) == 200)
            #expect(try await browser.check(0) == 404)
        } else if server.checksForms {
            #expect((400..<500).contains(status) && listed.isEmpty, "\(attempt): \(status)")
        }
        await transport.close()
        await store.close()
    }
}

extension TestServer {
    /// Those that have POST Object at all.
    fileprivate var takesForms: Bool { self != .rclone }
    /// The others take every form.
    fileprivate var checksForms: Bool { self == .ceph }
    /// Whether the end of a signed address counts.
    fileprivate var checksLooks: Bool { self == .ceph || self == .ministack }
}

/// Does with a form what the script of a page does.
private struct Browser {
    let form: UploadForm
    let transport: CurlTransport

    /// - Returns: the status of a HEAD.
    func check(_ index: Int) async throws -> Int {
        let slot = form.slots[index]
        let text = form.look.before + slot.name + form.look.after + slot.lookSignature + form.lookEnd
        return try await transport.send(HTTPRequest(.head, try Self.url(text)), target: .memory(limit: 1 << 20)).status
    }

    func send(_ body: String, type: String, by index: Int, as key: String?) async throws -> Int {
        let slot = form.slots[index]
        let policy = Data((form.policy.before + slot.name + form.policy.after).utf8).base64EncodedString()
        let fields =
            [("key", key ?? form.keyPrefix + slot.name)] + form.fields.map { ($0.name, $0.value) } + [
                ("Content-Type", type), ("policy", policy), ("x-amz-signature", slot.signature),
            ]
        let boundary = "boundary-of-a-test"
        var text = ""
        for (name, value) in fields {
            text += "--\(boundary)\r\nContent-Disposition: form-data; name=\"\(name)\"\r\n\r\n\(value)\r\n"
        }
        text += "--\(boundary)\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a\"\r\n"
        text += "Content-Type: \(type)\r\n\r\n\(body)\r\n--\(boundary)--\r\n"
        let request = HTTPRequest(
            .post, try Self.url(form.url), headers: ["Content-Type": "multipart/form-data; boundary=\(boundary)"],
            body: HTTPBody(bytes: Array(text.utf8)))
        return try await transport.send(request, target: .memory(limit: 1 << 20)).status
    }

    private static func url(_ text: String) throws -> HTTPURL {
        let url = try #require(URL(string: text))
        let query = text.split(separator: "?", maxSplits: 1).dropFirst().first ?? ""
        return HTTPURL(
            scheme: try #require(url.scheme), host: try #require(url.host()), port: url.port,
            path: url.path(percentEncoded: true).isEmpty ? "/" : url.path(percentEncoded: true),
            query: query.split(separator: "&").map { pair in
                let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
                return HTTPQueryItem(
                    String(parts[0]), (parts.count > 1 ? String(parts[1]) : "").percentDecoded() ?? "")
            })
    }
}
