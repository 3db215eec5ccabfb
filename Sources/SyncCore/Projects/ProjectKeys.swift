extension ObjectKey {
    /// Whether it is of a project: an image, metadata, the list, or an earlier state of one of them. What else is in a
    /// projects folder has a key beside these, and a user may be called as one of their folders.
    package var isOfProject: Bool {
        let parts = segments
        guard parts.count > 3, parts[0] == "users", parts[2] == "projects" else { return false }
        return parts.count == 4 ? ProjectFileName(String(parts[3])) != .other : isProjectVersion
    }

    /// Whether it is an earlier state that was kept: `…/projects/{id}/versions/20260501T101500Z-9e107d9d.jpg`. A folder
    /// of that name may have files of its owner's, which are no versions of anything.
    package var isProjectVersion: Bool {
        let parts = segments
        return parts.count == 6 && parts[0] == "users" && parts[2] == "projects" && parts[4] == "versions"
            && Self.beginsWithMoment(parts[5])
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
