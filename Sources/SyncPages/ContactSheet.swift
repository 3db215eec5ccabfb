package import FoundationEssentials
import SyncCore

/// Photos on paper: three in a row, each with what is known of it. One static HTML file without a script.
package struct ContactSheet: Hashable, Sendable {
    package struct Photo: Hashable, Sendable {
        /// A JPEG, PNG or WebP as a `data:` URI, or a link to one, relative or http(s).
        package var image: String
        /// Pixels of the image.
        package var width: Int
        package var height: Int
        package var name: String
        /// The camera's clock as UTC.
        package var takenAt: Date?
        package var profile: String?
        /// Bytes.
        package var size: Int64
        /// Where it is kept, in the caller's words.
        package var storageClass: String
        /// A word that is to be seen at once.
        package var badge: String?

        package init(
            image: String, width: Int, height: Int, name: String, takenAt: Date?, profile: String?, size: Int64,
            storageClass: String, badge: String?
        ) {
            (self.image, self.width, self.height, self.name) = (image, width, height, name)
            (self.takenAt, self.profile, self.size) = (takenAt, profile, size)
            (self.storageClass, self.badge) = (storageClass, badge)
        }
    }

    package var title: String
    package var photos: [Photo]

    package init(title: String, photos: [Photo]) { (self.title, self.photos) = (title, photos) }

    /// The whole page as UTF-8 text. The same value gives the same bytes.
    package func html() throws(PageError) -> String {
        let template = PageTemplate.contactSheet
        return try template.render(try ContactSheetView(self, template))
    }
}

/// What `contact-sheet.mustache` reads, by the names of these properties.
struct ContactSheetView: Sendable {
    struct Photo: Sendable {
        let image: String
        let width: Int
        let height: Int
        let alt: String
        let name: String
        /// When, whose, how large and where, as far as it is known.
        let facts: [String]
        let badge: String?
    }

    let policy: String
    let style: String
    let title: String
    let summary: String
    let photos: [Photo]

    init(_ sheet: ContactSheet, _ template: PageTemplate) throws(PageError) {
        (policy, style) = (template.policy, template.style)
        let line = PageText.line(sheet.title)
        title = line.isEmpty ? "Photos" : line
        let bytes = sheet.photos.reduce(0) { $0 + max($1.size, 0) }
        summary = "\(sheet.photos.count.counted("photo")), \(PageText.size(bytes))"
        var photos: [Photo] = []
        for (index, photo) in sheet.photos.enumerated() {
            let when = photo.takenAt.map { PageDates.moment($0) }
            let facts = [when, photo.profile, PageText.size(photo.size), photo.storageClass]
            photos.append(
                Photo(
                    image: try PageLink(picture: photo.image).text, width: max(photo.width, 1),
                    height: max(photo.height, 1),
                    alt: ["Photo \(index + 1) of \(sheet.photos.count)", when].compactMap(\.self)
                        .joined(separator: ", "),
                    name: PageText.line(photo.name),
                    facts: facts.compactMap { $0.map { PageText.line($0) } }.filter { !$0.isEmpty },
                    badge: photo.badge.map { PageText.line($0, limit: 24) }.flatMap { $0.isEmpty ? nil : $0 }))
        }
        self.photos = photos
    }
}
