package import FoundationEssentials

/// A file in a ZIP file.
package struct ZipEntry: Hashable, Sendable {
    /// Relative, `/`-separated.
    package let name: String
    /// Bytes.
    package let size: Int64
    package let modified: Date

    /// - Throws: ``ZipError``, `.badName`, for a name by which unpacking would write outside of its folder, or that some
    ///   systems take for another: absolute, with `..`, an empty segment, a backslash or a control character.
    package init(name: String, size: Int64, modified: Date) throws(ZipError) {
        if let reason = Self.objection(to: name) {
            throw ZipError(.badName, name, "it cannot be the name of a file in an archive: \(reason)")
        }
        precondition(size >= 0, "a file has no negative size")
        self.name = name
        self.size = size
        self.modified = modified
    }

    private static func objection(to name: String) -> String? {
        // Of the 65,535 bytes that the format has room for, what path_resolution(7) takes.
        if name.utf8.count > 4_095 { return "it is longer than 4,095 bytes" }
        for scalar in name.unicodeScalars {
            if scalar == "\\" { return "Windows takes a backslash for the end of a folder's name" }
            if scalar.properties.generalCategory == .control { return "it contains a control character" }
        }
        for segment in name.split(separator: "/", omittingEmptySubsequences: false) {
            switch segment {
            case "": return "it begins or ends with /, or has nothing between two"
            case ".", "..": return "\(segment) is not a name"
            default: if segment.utf8.count > 255 { return "a part of it is longer than 255 bytes" }
            }
        }
        return nil
    }
}
