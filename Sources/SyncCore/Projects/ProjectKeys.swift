extension ObjectKey {
    /// Whether it is of a project: an image, metadata, the list, or an earlier state of one of them. What else is in a
    /// projects folder has a key beside these, and a user may be called as one of their folders.
    package var isOfProject: Bool {
        if let file = VersionedFile(ofVersion: self) { return file.kind != .file }
        let parts = segments
        guard parts.count == 4, parts[0] == "users", parts[2] == "projects" else { return false }
        return ProjectFileName(String(parts[3])) != .other
    }

    /// Whether it is an earlier state of a file that was kept: `…/projects/{id}/versions/20260501T101500Z-9e107d9d.jpg`. A
    /// folder of that name may have files of its owner's, which are no versions of anything.
    package var isProjectVersion: Bool {
        let parts = segments
        return parts.count >= 6 && parts[0] == "users" && parts[2] == "projects"
            && parts[parts.count - 2] == "versions" && Self.beginsWithMoment(parts[parts.count - 1])
    }

    /// Whether it is such a version, and its name says that it is of a file with this MD5: it has the first digits.
    package func mayBeVersion(of md5: MD5Digest) -> Bool {
        isProjectVersion
            && lastSegment.utf8.dropFirst(Self.moment.utf8.count).starts(with: "\(md5)".utf8.prefix(8))
    }

    /// Whether it is that of a file in a projects folder: it is made of the file's name, and another file may have the same,
    /// of this machine or of another one. All others tell which content is under them.
    package var isNamedByFile: Bool {
        let parts = rawValue.utf8.split(separator: UInt8(ascii: "/"), maxSplits: 3).map(Substring.init)
        return parts.count > 3 && parts[0] == "users" && parts[2] == "projects"
    }

    private static let moment = "00000000T000000Z-"

    private static func beginsWithMoment(_ name: Substring) -> Bool {
        let head = name.utf8.prefix(moment.utf8.count)
        guard head.count == moment.utf8.count else { return false }
        return zip(head, moment.utf8).allSatisfy { byte, sign in
            sign == UInt8(ascii: "0") ? (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) : byte == sign
        }
    }
}
