import SyncSystem
import SyncTestSupport

@testable import SyncS3

/// Takes everything, says 200, and keeps what was asked.
final class NotingTransport: HTTPTransport {
    private static let created = "<InitiateMultipartUploadResult><UploadId>u</UploadId></InitiateMultipartUploadResult>"

    private let noted = Lock<[HTTPRequest]>([])

    var requests: [HTTPRequest] { noted.withLock { $0 } }

    func send(_ request: HTTPRequest, target: HTTPResponseTarget) async throws -> HTTPResponse {
        noted.withLock { $0.append(request) }
        if request.method == .head { return HTTPResponse(status: 404) }
        return HTTPResponse(status: 200, headers: ["ETag": "\"t\""], body: Array(Self.created.utf8))
    }

    func close() async {}
}
