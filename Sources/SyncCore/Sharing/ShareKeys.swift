/// Where the objects of one share live. They stand beside the users' folders, so that one rule and one policy fit them.
package struct ShareKeys: Hashable, Sendable {
    package static let prefix = "shares/"

    package let id: ShareID

    package init(_ id: ShareID) {
        self.id = id
    }

    /// The beginning of all keys of this share.
    package var folder: String { "\(Self.prefix)\(id)/" }
    /// Written last, so that a share is there when this is.
    package var manifest: ObjectKey { key("vacation.json") }
    package var page: ObjectKey { key("index.html") }

    /// - Parameter orderIndex: from 0.
    package func photo(_ orderIndex: Int) -> ObjectKey { key(Self.photoName(id, orderIndex)) }
    package func thumbnail(_ orderIndex: Int) -> ObjectKey { key(Self.thumbnailName(orderIndex)) }

    /// Names below ``folder``, as the page and the manifest's readers put them together.
    package static func photoName(_ id: ShareID, _ orderIndex: Int) -> String { "\(id)_\(orderIndex).jpg" }
    package static func thumbnailName(_ orderIndex: Int) -> String { "thumbnails/\(orderIndex).jpg" }

    private func key(_ name: String) -> ObjectKey {
        // A UUID and our own names always make a key.
        guard let key = try? ObjectKey(folder + name) else { preconditionFailure("\(folder + name) is no key") }
        return key
    }
}
