import Mustache

/// A template of the program, parsed once, with what it is dressed in.
struct PageTemplate: Sendable {
    /// For the browser: the one style sheet and the one script whose hashes these are may run, and nothing is loaded
    /// from another origin. CSP level 3; the hashes are of the texts between the tags, and a test holds them.
    let policy: String
    let style: String
    let script: String?
    private let parsed: Result<MustacheTemplate, any Error>

    static let share = PageTemplate(
        PackageResources.share_mustache,
        style: PackageResources.page_css + PackageResources.share_css, script: shareScript,
        policy: """
            default-src 'none'; img-src 'self'; media-src 'self'; \
            style-src 'sha256-MzKRf8gnq5m+79oYfjSqVoSTVxCW9cwiHVPtoyPPuNg='; \
            script-src 'sha256-ElNzwlFI+sfz5BDizkmcCisWAfRb7/5cJRe7o8lcxGg='; \
            connect-src 'self'; base-uri 'none'; form-action 'none'
            """
    )

    private static let shareScript =
        Array("\"use strict\";\nconst WORDS = ".utf8) + PackageResources.share_words_json + Array(";\n".utf8)
        + PackageResources.share_language_js + PackageResources.share_js + PackageResources.share_guests_js

    /// The same for a page that is opened from a disk. Nothing is fetched by its script there.
    var policyOnDisk: String {
        policy.replacing("-src 'self'; media-src 'self'", with: "-src 'self' file:; media-src 'self' file:")
            .replacing("connect-src 'self'", with: "connect-src 'none'")
    }

    static let contactSheet = PageTemplate(
        PackageResources.contact_sheet_mustache,
        style: PackageResources.page_css + PackageResources.contact_sheet_css, script: nil,
        policy: """
            default-src 'none'; img-src data: 'self'; \
            style-src 'sha256-94TEWveuj+7BRBB99QprSEAoCCVvXLH3KcsCWvTMzhE='; \
            base-uri 'none'; form-action 'none'
            """
    )

    /// Style and script are files of their own: the pages are made anew each time.
    static let site = PageTemplate(
        PackageResources.site_mustache,
        style: PackageResources.page_css + PackageResources.site_css, script: PackageResources.site_js,
        policy: """
            default-src 'none'; img-src 'self'; media-src 'self'; style-src 'self'; script-src 'self'; \
            connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'
            """
    )

    private init(_ template: [UInt8], style: [UInt8], script: [UInt8]?, policy: String) {
        self.policy = policy
        self.style = String(decoding: style, as: UTF8.self)
        self.script = script.map { String(decoding: $0, as: UTF8.self) }
        // The templates begin with the name. Registering again replaces a value by an equal one.
        MustacheContentTypes.register(PageEscaping(), named: "PAGE")
        parsed = Result { try MustacheTemplate(string: String(decoding: template, as: UTF8.self)) }
    }

    func render(_ view: some Sendable) throws(PageError) -> String {
        switch parsed {
        case .success(let template): return template.render(view)
        case .failure(let error): throw PageError(.template, "the template of a page cannot be parsed: \(error)")
        }
    }
}

/// The template of the gallery's pages, and what they are dressed in.
package enum SiteTemplate {
    package static var style: String { PageTemplate.site.style }
    package static var script: String { PageTemplate.site.script ?? "" }
    /// The header `Content-Security-Policy` of every page (CSP level 3).
    package static var policy: String { PageTemplate.site.policy }

    /// - Parameter view: has what `site.mustache` reads, by the names of its properties.
    package static func html(_ view: some Sendable) throws(PageError) -> String {
        try PageTemplate.site.render(view)
    }
}

/// Why a page was not made. Signed links are secrets: of a link, only what stands before its query is told.
package struct PageError: Error, Hashable, CustomStringConvertible {
    package enum Code: Hashable, Sendable {
        /// Not a link that a page may carry: another scheme, or characters that RFC 3986 does not allow in one.
        case link
        /// Two absolute links lead to different origins, so that the page's own policy would block one of them.
        case origin
        /// What stands for the share in the line to copy cannot be typed in one line.
        case reference
        /// The template in the program cannot be parsed: an error of ours.
        case template
    }

    package let code: Code
    package let description: String

    init(_ code: Code, _ description: String) { (self.code, self.description) = (code, description) }
}

/// Escapes by Unicode scalars for text and quoted attributes.
///
/// Mustache's own does it by characters: a quote that is followed by a combining mark is one character with it, is not
/// found, and still ends the attribute in every browser.
struct PageEscaping: MustacheContentType {
    func escapeText(_ text: String) -> String {
        // Pictures inside the page are long and need nothing.
        guard text.utf8.contains(where: { Self.replacement(of: $0) != nil }) else { return text }
        var escaped: [UInt8] = []
        escaped.reserveCapacity(text.utf8.count + 64)
        // UTF-8 has none of these bytes inside a longer sequence.
        for byte in text.utf8 {
            if let replacement = Self.replacement(of: byte) {
                escaped += replacement.utf8
            } else {
                escaped.append(byte)
            }
        }
        return String(decoding: escaped, as: UTF8.self)
    }

    private static func replacement(of byte: UInt8) -> String? {
        switch byte {
        case UInt8(ascii: "<"): "&lt;"
        case UInt8(ascii: ">"): "&gt;"
        case UInt8(ascii: "&"): "&amp;"
        case UInt8(ascii: "\""): "&quot;"
        case UInt8(ascii: "'"): "&#39;"
        case UInt8(ascii: "`"): "&#96;"
        // HTML allows none of the other controls (WHATWG HTML, 13.2.3.5).
        case 0...8, 11...12, 14...31, 127: "\u{FFFD}"
        default: nil
        }
    }
}
