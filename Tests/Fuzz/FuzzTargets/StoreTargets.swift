import FoundationEssentials

@testable import SyncCore
@testable import SyncS3

/// Readers of what a store answers.
enum StoreTargets {
    private static let prefix = "photos/"

    /// All replies that are XML: what a listing says is what a listing made of it says, and what is shown of an error fits
    /// on one line.
    static func xml(_ bytes: [UInt8]) -> Bool {
        let error = ErrorReply(HTTPResponse(status: 500, headers: [:], body: bytes))
        requireLine([
            error.code, error.message, error.region, error.endpoint, error.header, error.argument, error.requestID,
        ])
        if let deleted = try? DeleteReply(bytes) {
            for failure in deleted.failures { requireLine([failure.error.code, failure.error.message]) }
        }
        _ = try? XMLElement(document: bytes, root: "CopyObjectResult")
        _ = try? MultipartReply.completedTag(bytes)
        if let key = try? ObjectKey("a") { _ = try? MultipartReply.created(bytes, key: key) }
        let uploads = try? MultipartReply.uploads(bytes, prefix: prefix, before: Date(timeIntervalSince1970: 4e9))
        let isKnown = error.code != nil || uploads != nil
        guard let list = try? ListReply(bytes, prefix: prefix) else { return isKnown }
        for object in list.page.objects {
            promise((try? ObjectKey(object.key.rawValue)) == object.key, "a key is none")
        }
        let written = document(list.page)
        guard let again = try? ListReply(Array(written.utf8), prefix: prefix) else {
            promise(false, "a page is not read as it is written")
            return true
        }
        promise(again.page.objects.map(\.key) == list.page.objects.map(\.key), "keys change")
        promise(again.page.objects.map(\.size) == list.page.objects.map(\.size), "sizes change")
        promise(again.page.next == list.page.next, "the place to go on from changes")
        promise(again.page.objects.map(\.storageClass) == list.page.objects.map(\.storageClass), "classes change")
        return true
    }

    private static func requireLine(_ texts: [String?]) {
        for text in texts.compactMap(\.self) {
            promise(text.unicodeScalars.allSatisfy(ShareTargets.isPlain), "what a server says moves the cursor")
            promise(text.unicodeScalars.count <= 2_000, "what a server says has no end")
        }
    }

    private static func document(_ page: ObjectPage) -> String {
        let contents = page.objects.map { object in
            let key = (prefix + object.key.rawValue).utf8.map { byte in
                "%" + (byte < 16 ? "0" : "") + String(byte, radix: 16)
            }
            return "<Contents><Key>\(key.joined())</Key><Size>\(object.size)</Size><StorageClass>"
                + "\(object.storageClass.rawValue.xmlEscaped)</StorageClass></Contents>"
        }
        let next = page.next.map { "<NextContinuationToken>\($0.rawValue.xmlEscaped)</NextContinuationToken>" } ?? ""
        return "<ListBucketResult><EncodingType>url</EncodingType><IsTruncated>\(page.next != nil)</IsTruncated>\(next)"
            + contents.joined() + "</ListBucketResult>"
    }

    /// Rules of others go back byte for byte, and ours as they were read.
    static func lifecycle(_ bytes: [UInt8]) -> Bool {
        var isRead = false
        for names in [LifecycleRuleNames(prefix: ""), LifecycleRuleNames(prefix: prefix)] {
            guard let document = try? LifecycleDocument(bytes, names: names) else { continue }
            isRead = true
            for case .foreign(let text) in document.rules.map(\.content) {
                promise(bytes.firstRange(of: Array(text.utf8)) != nil, "a rule of others is not what it was")
            }
            let written = document.text(with: document.rules)
            guard let again = try? LifecycleDocument(Array(written.utf8), names: names) else {
                promise(false, "rules are not read as they are written")
                continue
            }
            promise(again.rules == document.rules, "rules change when they are written")
            promise(again.text(with: again.rules) == written, "rules are written in two ways")
        }
        return isRead
    }
}
