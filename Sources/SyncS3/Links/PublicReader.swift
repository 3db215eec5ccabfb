package import SyncCore

/// Reads what everybody can read: nothing is signed, and no credentials are sent.
package struct PublicReader: Sendable {
    private static let patience = Duration.seconds(30)

    private let client: LinkClient

    package init(transport: any HTTPTransport) {
        client = LinkClient(transport: transport)
    }

    /// - Parameter limit: bytes; more is an error.
    /// - Returns: `nil` where the server gives nothing to those without credentials.
    /// - Throws: `StoreError`, `CancellationError`.
    package func bytes(at link: WebLink, limit: Int) async throws -> [UInt8]? {
        let answer = try await client.get(link, target: .memory(limit: limit), limit: Self.patience)
        switch answer.response.status {
        case 200: return answer.response.body
        // Too many requests (429) is no answer.
        case 400..<429, 430..<500: return nil
        default: throw StoreError(answer.response, from: answer.link, key: nil)
        }
    }
}
