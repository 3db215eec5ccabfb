import FoundationEssentials
package import SyncCore

extension S3Store {
    /// A presigned GET. The object is looked at first: a link to nothing, to an archived object, or signed for a wrong
    /// region or by a wrong clock would fail only at whoever opens it.
    package func link(to key: ObjectKey, lasting duration: Duration) async throws -> StoreLink {
        let context = client.context("link", key)
        guard let reply = try await headReply(key, context) else {
            throw client.error(.notFound, context, "nothing is stored under this key")
        }
        if reply.isArchived {
            throw client.error(.archived, context, "the object is archived; restore it first (sync-agent restore)")
        }
        let credentials = try await client.credentials.current(for: context.operation)
        let knowledge = client.knowledge
        let date = client.now().addingTimeInterval(knowledge.clockOffset).wholeSeconds
        let life = LinkLife(wanted: duration, credentials: credentials, at: date)
        guard life.seconds > 0 else {
            throw client.error(
                .credentialsRejected, context, "the credentials are \(credentials.provenance(at: date)); get new ones")
        }
        let url = SignatureV4(credentials: credentials, region: knowledge.address.region).presigned(
            client.requests(knowledge.address).get(key, range: nil, checksum: false), expiresAfter: life.seconds,
            at: date)
        return StoreLink(
            url: "\(url)", endsAt: date.addingTimeInterval(TimeInterval(life.reliedOn)), limit: life.limit,
            isEndKnown: life.isEndKnown)
    }
}

/// How long a presigned URL can last.
private struct LinkLife {
    /// The shortest time for which roles are usually taken (STS AssumeRole, DurationSeconds).
    private static let usualToken = 3_600

    let seconds: Int
    let limit: String?
    /// Whether nothing but the signature's own time ends it.
    let isEndKnown: Bool
    /// Seconds: how long somebody may count on it.
    var reliedOn: Int { isEndKnown ? seconds : min(seconds, Self.usualToken) }

    init(wanted duration: Duration, credentials: AWSCredentials, at date: Date) {
        let wanted = max(duration.components.seconds, 1)
        let left = credentials.expiration.map { Int64(max($0.timeIntervalSince(date), 0)) } ?? .max
        let seconds = min(wanted, Int64(SignatureV4.maximumExpiry), left)
        self.seconds = Int(seconds)
        isEndKnown = credentials.sessionToken == nil || credentials.expiration != nil
        limit =
            if !isEndKnown {
                "the credentials are temporary and do not tell their end; the link ends with them"
            } else if seconds < wanted {
                seconds == left
                    ? "the credentials are temporary, and a link ends with them"
                    : "S3 signs links for at most 7 days"
            } else {
                nil
            }
    }
}

extension Date {
    /// As it is signed: S3 reads no fractions.
    fileprivate var wholeSeconds: Date { Date(timeIntervalSince1970: timeIntervalSince1970.rounded(.down)) }
}
