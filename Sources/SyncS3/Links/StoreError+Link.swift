import SyncCore

/// What goes wrong with a link, in the words of somebody who has nothing but that link. Of the link itself only the origin
/// is told: the rest may be a secret.
extension StoreError {
    static let endedShare =
        "there is no such share any more: it was revoked or has expired, or the link to it has ended"

    init(_ response: HTTPResponse, from link: WebLink, key: ObjectKey?) {
        let (code, message): (Code, String) =
            switch response.status {
            // A link of its own ends before the share does; S3 says 403 then, and the photo is still there.
            case 403 where key != nil: (.linkEnded, "the link to this photo has ended, or \(link.origin) blocks it")
            case 403, 404, 410: (.notFound, Self.endedShare)
            case 401: (.accessDenied, "\(link.origin) asks for a user and password; ask for a link that works without")
            case 407:
                (.unreachable, "the proxy asks for a user and password; write them into https_proxy or http_proxy")
            case 408: (.timedOut, "\(link.origin) waited too long")
            case 416: (.invalidRange, "the photo ends before the bytes that were asked for")
            case 429, 503: (.throttled, "\(link.origin) asks to slow down")
            case 500...: (.serverFailed, "\(link.origin) failed")
            case 200..<300: (.invalidResponse, "\(link.origin) sent a reply that makes no sense here")
            default: (.invalidRequest, "\(link.origin) does not accept the request")
            }
        self.init(code, operation: "get", key: key?.rawValue, message: message, detail: "\(response.status)")
    }

    init(_ error: TransportError, from link: WebLink, key: ObjectKey?) {
        let place = link.origin
        let (code, message): (Code, String) =
            switch error.code {
            case .unreachable: (.unreachable, "cannot reach \(place): \(error.message); check the network and the link")
            case .proxyFailed:
                (
                    .unreachable,
                    "the proxy on the way to \(place) fails: \(error.message); correct https_proxy or http_proxy"
                )
            case .insecure: (.unreachable, "no secure connection to \(place): \(error.message)")
            case .untrusted: (.unreachable, "the certificate of \(place) is not trusted: \(error.message)")
            case .timedOut: (.timedOut, "\(place) takes too long: \(error.message)")
            case .connectionLost: (.connectionLost, "the connection to \(place) broke: \(error.message)")
            case .notHTTP: (.unreachable, "what answers at \(place) speaks no HTTP: \(error.message)")
            case .invalidReply: (.unsupported, "\(place) sends no share: \(error.message)")
            case .sourceChanged, .digestMismatch, .failed, .closed:
                (.invalidRequest, "the request cannot be sent: \(error.message)")
            }
        self.init(code, operation: "get", key: key?.rawValue, message: message)
    }
}
