import FoundationEssentials
package import SyncCore

extension S3Store {
    /// A presigned GET. The object is looked at first: a link to nothing, to an archived object, or signed for a wrong
    /// region or by a wrong clock would fail only at whoever opens it.
    package func link(to key: ObjectKey, lasting duration: Duration) async throws -> StoreLink {
        let context = client.context("link", key)
        _ = try await readableReply(key, context)
        let pen = try await linkSigner(duration, context)
        return StoreLink(
            url: "\(pen.presigned(pen.requests.get(key, range: nil, checksum: false)))", endsAt: pen.endsAt,
            limit: pen.life.limit, isEndKnown: pen.life.isEndKnown)
    }

    package func uploadForm(
        for keys: [ObjectKey], _ rules: UploadRules, lasting duration: Duration
    ) async throws -> UploadForm {
        guard let first = keys.first else { preconditionFailure("a form is for some keys") }
        let context = client.context("form", first)
        guard !context.address.isAccessPoint else {
            throw client.error(
                .unsupported, context,
                "guests cannot add photos through an access point; name the bucket itself in store.bucket")
        }
        guard !client.settings.requesterPays else {
            throw client.error(
                .unsupported, context,
                "guests cannot add photos to a bucket where the requester pays: they have no account")
        }
        let pen = try await linkSigner(duration, context)
        let prefix = client.prefix + first.folder
        let policy = PostPolicy(
            pen, bucket: client.knowledge.address.bucket, keyPrefix: prefix, rules, encryption: client.encryption)
        var look: (frame: UploadForm.Frame, end: String)?
        let slots = keys.map { key in
            precondition(key.folder.inBytes == first.folder.inBytes)
            let name = String(key.lastSegment)
            // All but the key and the signature is the same for all of them.
            let url = pen.presigned(pen.requests.head(key, checksum: false))
            let signature = url.query.last?.value ?? ""
            let parts = "\(url)".split(separator: signature, maxSplits: 1, omittingEmptySubsequences: false)
            let (place, query) = (parts[0].prefix { $0 != "?" }, parts[0].drop { $0 != "?" })
            look = (UploadForm.Frame(String(place.dropLast(name.utf8.count)), String(query)), String(parts[1]))
            return UploadForm.Slot(
                name: name, signature: pen.signature(ofPolicy: policy.text(for: name)), lookSignature: signature)
        }
        guard let look else { preconditionFailure("a form is for some keys") }
        return UploadForm(
            url: "\(pen.requests.address.url())", keyPrefix: prefix, fields: policy.fields, policy: policy.frame,
            look: look.frame, lookEnd: look.end, slots: slots, endsAt: pen.endsAt)
    }

    /// - Throws: ``StoreError`` when there are no credentials that last.
    private func linkSigner(_ duration: Duration, _ context: S3RequestContext) async throws -> LinkSigner {
        let credentials = try await client.credentials.current(for: context.operation)
        let knowledge = client.knowledge
        // As it is signed: S3 reads no fractions.
        let seconds = client.now().addingTimeInterval(knowledge.clockOffset).timeIntervalSince1970.rounded(.down)
        let date = Date(timeIntervalSince1970: seconds)
        let life = LinkLife(wanted: duration, credentials: credentials, at: date)
        guard life.seconds > 0 else {
            throw client.error(
                .credentialsRejected, context, "the credentials are \(credentials.provenance(at: date)); get new ones")
        }
        return LinkSigner(
            signature: SignatureV4(credentials: credentials, region: knowledge.address.region), date: date, life: life,
            requests: client.requests(knowledge.address))
    }
}

/// Signs what others may ask of a store for a while.
private struct LinkSigner {
    let signature: SignatureV4
    let date: Date
    let life: LinkLife
    let requests: S3Requests

    var endsAt: Date { date.addingTimeInterval(TimeInterval(life.reliedOn)) }

    func presigned(_ request: HTTPRequest) -> HTTPURL {
        var request = request
        // Whoever opens a link sends no header of ours: S3 takes it from the query, too.
        if requests.requesterPays {
            request.url.query.append(HTTPQueryItem(S3Requests.payerHeader, S3Requests.requester))
        }
        return signature.presigned(request, expiresAfter: life.seconds, at: date)
    }

    func signature(ofPolicy text: String) -> String {
        signature.signature(ofPolicy: Data(text.utf8).base64EncodedString(), at: date)
    }
}

/// What a form may put, as S3 is told it (Amazon S3 API Reference, "POST Policy").
private struct PostPolicy {
    /// What the form sends and the policy asks for.
    let fields: [UploadForm.Field]
    let frame: UploadForm.Frame

    init(_ pen: LinkSigner, bucket: String, keyPrefix: String, _ rules: UploadRules, encryption: S3Encryption) {
        let fields =
            pen.signature.formFields(at: pen.date).map { UploadForm.Field($0.name, $0.value) }
            + encryption.headers.fields.map { UploadForm.Field($0.name, $0.value) }
        let end = pen.date.addingTimeInterval(TimeInterval(pen.life.seconds)).formatted(.iso8601)
        let conditions =
            [#"{"bucket":\#(Self.quoted(bucket))}"#]
            + fields.map { "{\(Self.quoted($0.name)):\(Self.quoted($0.value))}" } + [
                #"["content-length-range",1,\#(rules.mostBytes)]"#,
                #"["starts-with","$Content-Type",\#(Self.quoted(rules.contentType))]"#,
            ]
        frame = UploadForm.Frame(
            #"{"expiration":"\#(end)","conditions":[\#(conditions.joined(separator: ",")),{"key":"#
                + Self.quoted(keyPrefix).dropLast(), #""}]}"#)
        self.fields = fields
    }

    /// - Parameter name: the last segment, which has nothing that JSON escapes.
    func text(for name: String) -> String { frame.before + name + frame.after }

    /// In ASCII: whoever puts it together need not know of encodings.
    private static func quoted(_ text: String) -> String {
        let escaped = text.utf16.map { unit in
            switch unit {
            case 0x22, 0x5C: "\\" + String(UnicodeScalar(UInt8(unit)))
            case 0x20...0x7E: String(UnicodeScalar(UInt8(unit)))
            default: "\\u" + unit.padded(to: 4, radix: 16)
            }
        }
        return "\"\(escaped.joined())\""
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
