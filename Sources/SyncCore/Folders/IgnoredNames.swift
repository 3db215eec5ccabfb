/// Names that are never photos: what editors, browsers and copy programs leave behind while they work.
package enum IgnoredNames {
    private static let suffixes = [".tmp", ".part", ".partial", ".crdownload", ".download", ".swp", "~"]

    /// Whether a file or folder of this name is left out. A name is one path component, as the directory holds it.
    package static func contains(_ name: some StringProtocol) -> Bool {
        if name.utf8.first == UInt8(ascii: ".") || name.utf8.first == UInt8(ascii: "~") { return true }
        let lowered = name.lowercased()
        return suffixes.contains { lowered.hasSuffix($0) } || lowered == "@eadir" || lowered == "thumbs.db"
    }
}
