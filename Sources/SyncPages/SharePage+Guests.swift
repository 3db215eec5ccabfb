import FoundationEssentials
package import SyncCore

extension SharePage {
    /// Where guests send photos.
    package enum Guests: Hashable, Sendable {
        /// To a gallery, each as the body of a POST: relative to the page.
        case gallery(String)
        /// To a store, by a form for each.
        case store(UploadForm)
    }
}

/// What the script of a page reads of ``SharePage/Guests``, as JSON.
struct GuestForm: Encodable {
    /// Of one photo.
    let most: Int64
    /// `nil` for a store.
    let gallery: String?
    /// `nil` for a gallery.
    let store: Store?

    struct Store: Encodable {
        let url: String
        let prefix: String
        let fields: [[String]]
        let policy: [String]
        let look: [String]
        /// Name, signature, signature of the look.
        let slots: [[String]]
    }

    init(_ guests: SharePage.Guests) throws(PageError) {
        most = GuestRules.mostBytes
        switch guests {
        case .gallery(let path): (gallery, store) = (path, nil)
        case .store(let form):
            gallery = nil
            store = Store(
                url: try PageLink(form.url).text, prefix: form.keyPrefix,
                fields: form.fields.map { [$0.name, $0.value] },
                policy: [form.policy.before, form.policy.after],
                look: [form.look.before, form.look.after, form.lookEnd],
                slots: form.slots.map { [$0.name, $0.signature, $0.lookSignature] })
        }
    }

    var json: String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        // Texts and numbers only.
        guard let data = try? encoder.encode(self) else { preconditionFailure("texts are JSON") }
        return String(decoding: data, as: UTF8.self)
    }
}
