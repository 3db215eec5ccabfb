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

    init(_ code: Code, _ description: String) {
        self.code = code
        self.description = description
    }
}
