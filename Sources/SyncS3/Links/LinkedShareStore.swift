package import SyncCore

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
            let beside = link.resolving(ShareKeys.photoName(share.id, photo.orderIndex))
            guard let link = photo.link ?? beside else { return }
            objects[keys.photo(photo.orderIndex)] = Object(link: link, size: photo.size)
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
