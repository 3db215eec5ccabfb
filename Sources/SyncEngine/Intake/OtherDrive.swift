import SyncCore
package import SystemPackage

/// Another drive than the one that photos were found on, or one of which nothing says that it is that, for people.
package struct OtherDrive: Hashable, Sendable {
    /// Absolute.
    package let path: FilePath
    let isMounted: Bool
    /// Known files that are not on it.
    package let filesNotSeen: Int
    /// Those of them whose names other files have on it: these wait, and are not stored.
    var namesakes = 0
    /// Whether it is another one for certain.
    var isCertain = true
    /// The first of those files, absolute, where it is known.
    var namesake: FilePath?

    package var words: String {
        let known = filesNotSeen.counted("known file is", "known files are")
        let first =
            if !isMounted {
                "no drive is mounted here, but other files are, and \(known) not among them"
            } else if isCertain {
                "this is not the drive that photos were found on, and \(known) not on it"
            } else {
                "nothing tells whether this is the drive that photos were found on, and \(known) not on it"
            }
        if namesakes == 0 { return first }
        let others = namesakes.counted(
            "file with a known name is another, and is", "files with known names are others, and are")
        let name = namesake.map { Self.name($0, of: namesakes) } ?? ""
        return "\(first); \(others) not stored: give \(namesakes == 1 ? "it another name" : "them other names")\(name)"
    }

    /// What comes of it that it takes the place. What has a known name on it is not missing, whatever it is.
    package var takeover: String {
        let gone = filesNotSeen - namesakes
        var parts = ["this drive takes the place"]
        if gone > 0 {
            let words = gone.counted("known file is not on it, and counts", "known files are not on it, and count")
            parts.append("\(words) as missing")
        }
        if namesakes > 0 {
            let words = namesakes.counted(
                "file with a known name is another, and is", "files with known names are others, and are")
            parts.append("\(words) stored anew")
        }
        return parts.joined(separator: "; ")
    }

    package var remedy: String {
        let drive = isCertain ? "this one takes its place" : "it is the right one, or takes its place"
        return "mount the right drive, or, where \(drive), and while no agent runs: \(Self.command(at: path))"
    }

    /// Of a photo whose drive may be there, or not.
    /// - Parameter name: of the place.
    static func isUntold(at name: String) -> String {
        "nothing tells whether the drive at \(name) is the one that it was found on"
    }

    /// Names the first of some files, behind what is said of them.
    static func name(_ first: FilePath, of count: Int) -> String {
        " (\(count == 1 ? "" : "the first is ")\(first.text.escapingControls))"
    }

    /// Why nothing is stored of a file.
    static let isOtherPhoto = """
        it has the name, the size and the time of a photo that was found on another drive, and is another one; it is \
        not stored: give it another name
        """

    /// With which somebody says that the drive at a place takes it.
    static func command(at place: FilePath) -> String {
        "sync-agent sync --new-drive \(place.text.escapingControls.shellWord)"
    }

    var problem: ScanError {
        ScanError(.missing, path: path, message: "\(words). Nothing was marked as missing; \(remedy)")
    }
}
