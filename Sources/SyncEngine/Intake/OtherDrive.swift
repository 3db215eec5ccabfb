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
        return "\(first); \(others) not stored"
    }

    package var remedy: String {
        let drive = isCertain ? "this one takes its place" : "it is the right one, or takes its place"
        return "mount the right drive, or, where \(drive), and while no agent runs: \(Self.command(at: path))"
    }

    /// With which somebody says that the drive at a place takes it.
    static func command(at place: FilePath) -> String {
        "sync-agent sync --new-drive \(place.text.escapingControls.shellWord)"
    }

    var problem: ScanError {
        ScanError(.missing, path: path, message: "\(words). Nothing was marked as missing; \(remedy)")
    }
}
