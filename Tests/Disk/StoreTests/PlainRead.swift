import FoundationEssentials
import SyncS3

/// Reads an address as a browser does: without a signature, key or header of ours.
enum PlainRead {
    struct Failure: Error {
        var url: String
        var status: Int?
    }

    static func bytes(of url: String) async throws -> [UInt8] {
        guard let parts = URLComponents(string: url), let scheme = parts.scheme, let host = parts.host else {
            throw Failure(url: url)
        }
        let query = (parts.queryItems ?? []).map { HTTPQueryItem($0.name, $0.value ?? "") }
        let address = HTTPURL(
            scheme: scheme, host: host, port: parts.port, path: parts.percentEncodedPath, query: query)
        // Taken apart and put together again it has to be the same, but for the order of its query.
        guard pieces(address.description) == pieces(url) else { throw Failure(url: url) }
        let transport = try CurlTransport()
        let response = try await transport.send(HTTPRequest(.get, address), target: .memory(limit: 1 << 20))
        await transport.close()
        guard response.status == 200 else { throw Failure(url: url, status: response.status) }
        return response.body
    }

    private static func pieces(_ url: String) -> [Substring] {
        url.split(whereSeparator: { $0 == "?" || $0 == "&" }).sorted()
    }
}
