/// Why a file could not become a stored copy.
package struct PhotoError: Error, Hashable, Sendable, CustomStringConvertible {
    package enum Code: String, Hashable, Sendable {
        /// The file ends before the picture does, or is empty.
        case truncated
        /// The picture's data is damaged.
        case corrupt
        /// A format or variant that the codec does not know (12 bit, lossless). What is stored of it is the file itself.
        case unsupported
        /// Beyond ``PhotoLimits``.
        case overLimit
        /// The name says photo, the bytes do not.
        case notAPhoto
        /// It tells where it was taken, or that cannot be ruled out, and `strip_location` keeps that here.
        case tellsPlace
        /// Neither photo nor video: nothing that this folder stores.
        case notStored
        /// The file was written to while it was read, or is open for writing.
        case changed
        /// It is gone.
        case missing
        /// open(2) or read(2) failed: permission, I/O.
        case unreadable
        /// The machine is out of memory or descriptors.
        case outOfResources
        /// Its decoding did not end (`StepWatch`).
        case tooSlow
        /// Whoever asked for it does not wait any longer: the agent stops.
        case stopped
    }

    package var code: Code
    /// The reason in plain words; the codec's own words where it has any.
    package var message: String

    package init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }

    /// Whether the same bytes would fail again. A failed photo is tried again only when its file changes.
    package var isPermanent: Bool {
        switch code {
        case .truncated, .corrupt, .unsupported, .overLimit, .notAPhoto, .tellsPlace, .notStored, .tooSlow: true
        case .changed, .missing, .unreadable, .outOfResources, .stopped: false
        }
    }

    package var description: String { message }

    package static let tooSlow = PhotoError(
        .tooSlow,
        "its picture or metadata could not be read within a minute, and it was set aside; look at the file, and ask for "
            + "another try with sync-agent retry")
}
