package import SyncCore

/// A share behind a link to its page, its manifest or its folder.
package struct LinkedShareSource: ShareSource {
    private let link: WebLink
    private let asked: ShareID?
    private let client: LinkClient

    package init(_ link: WebLink, transport: any HTTPTransport) {
        self.link = link
        asked = ShareReference.link(link).shareID
        client = LinkClient(transport: transport)
    }

    package func read(remembered: WebLink?) async throws -> ReadShare {
        do {
            return try await read()
        } catch let error as StoreError where error.code == .notFound {
            // A signed link ends before its share does; the manifest told a newer one.
            guard let remembered, link.admits(remembered) else { throw error }
            return try await manifest(at: remembered)
        }
    }

    private func read() async throws -> ReadShare {
        let answer: LinkClient.Answer
        do {
            answer = try await client.document(at: link, limit: ShareManifestRules.maximumBytes)
        } catch let error as StoreError where error.code == .notFound {
            guard let beside = manifestBelowFolder else { throw error }
            return try await manifest(at: beside)
        }
        switch answer.response.body.first(where: { !Self.blanks.contains($0) }) {
        case UInt8(ascii: "{"): return try share(answer)
        case UInt8(ascii: "<"): return try await share(ofPage: answer)
        default: throw ShareRefusal("what is at this link is neither the page nor the manifest of a share")
        }
    }

    private func share(ofPage page: LinkClient.Answer) async throws -> ReadShare {
        let told = PageScanner(page.response.body).manifestReference
        guard let target = page.link.resolving(told ?? "vacation.json") else {
            throw ShareRefusal("its page leads to a manifest that is no http(s) link")
        }
        guard page.link.admits(target) else {
            throw ShareRefusal(
                "its page leads to a manifest at another host, \(target.origin); only \(page.link.origin) is asked")
        }
        do {
            return try await manifest(at: target)
        } catch let error as StoreError where error.code == .notFound && told == nil {
            throw ShareRefusal("the page at this link is not that of a share")
        }
    }

    private func manifest(at link: WebLink) async throws -> ReadShare {
        try share(try await client.document(at: link, limit: ShareManifestRules.maximumBytes))
    }

    private func share(_ manifest: LinkClient.Answer) throws -> ReadShare {
        let share = try ShareManifestRules(asked: asked).check(manifest.response.body, foundAt: manifest.link)
        return ReadShare(
            share: share, photos: LinkedShareStore(share, foundAt: manifest.link, client: client),
            manifestLink: share.manifestLink ?? manifest.link)
    }

    /// Where the link leads to a folder: `…/shares/ID` and `…/shares/ID/`. Stores have no pages for folders.
    private var manifestBelowFolder: WebLink? {
        if link.path.hasSuffix("/") { return link.resolving("vacation.json") }
        guard let name = link.path.split(separator: "/").last, ShareID(String(name)) != nil else { return nil }
        return link.resolving("\(name)/vacation.json")
    }

    /// White space, and the byte order mark of UTF-8.
    private static let blanks: Set<UInt8> = [0x20, 0x09, 0x0A, 0x0C, 0x0D, 0xEF, 0xBB, 0xBF]
}

/// The photos of a share behind links, as objects under the keys that they have in the sharer's store.
///
/// What is told of an object is what the manifest says; only ``get(_:range:into:)`` sends a request, for a signed link is
/// good for GET alone. A reading ends at the size in the manifest, however much the server sends.
package struct LinkedShareStore: ObjectSource {
    private struct Object: Sendable {
        let link: WebLink
        let size: Int64
    }

    package let identity: StoreIdentity
    private let client: LinkClient
    private let objects: [ObjectKey: Object]

    /// - Parameter link: that of the manifest: photos without a link of their own lie beside it, under their usual names.
    init(_ share: CheckedShare, foundAt link: WebLink, client: LinkClient) {
        identity = StoreIdentity(type: "link", location: link.origin)
        self.client = client
        let keys = ShareKeys(share.id)
        objects = share.photos.reduce(into: [:]) { objects, photo in
            let beside = link.resolving(ShareKeys.copyName(share.id, photo.orderIndex, film: photo.film))
            guard let link = photo.link ?? beside else { return }
            objects[keys.object(of: photo)] = Object(link: link, size: photo.size)
        }
    }

    package func head(_ key: ObjectKey) async throws -> ObjectInfo? {
        objects[key].map { ObjectInfo(key: key, size: $0.size) }
    }

    package func get(
        _ key: ObjectKey, range: Range<Int64>?, into sink: @escaping @Sendable (UnsafeRawBufferPointer) throws -> Void
    ) async throws -> ObjectInfo {
        guard let object = objects[key] else {
            throw StoreError(.notFound, operation: "get", key: key.rawValue, message: "the share has no such photo")
        }
        let info = ObjectInfo(key: key, size: object.size)
        guard range?.isEmpty != true else { return info }
        if let range, range.lowerBound >= object.size {
            throw StoreError(
                .invalidRange, operation: "get", key: key.rawValue,
                message: "the photo ends before the bytes that were asked for")
        }
        let read = LinkedRead(key, size: object.size, range: range, into: sink)
        let answer = try await client.get(
            object.link, range: range, key: key, target: .sink(accepts: read.begin, read.append))
        guard [200, 206].contains(answer.response.status) else {
            throw StoreError(answer.response, from: answer.link, key: key)
        }
        try read.end()
        return info
    }
}
