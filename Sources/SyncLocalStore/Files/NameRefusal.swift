import SyncCore
import SystemPackage

/// Why a file system takes no file of some name, where it is the name: read from the failed call.
///
/// Linux' own drivers of FAT and exFAT say EINVAL to whoever makes such a file, and so does that of NTFS with
/// `windows_names`; EILSEQ is said of characters that a file system has no code for. Drivers in user space (exfat-fuse)
/// and servers of SMB say ENOENT, as of a folder that is gone.
struct NameRefusal: Hashable {
    /// What the file system does not allow: "the character ? in names".
    let what: String

    /// - Parameter isFolderThere: whether the folder in which the call was to make the name is there.
    /// - Returns: `nil` where the call has failed for something else.
    init?(_ errno: Errno, of name: String, isFolderThere: Bool) {
        let found: String? =
            switch errno {
            case .invalidArgument, .illegalByteSequence: Self.oddity(of: name) ?? Self.foreignCharacter(in: name)
            case .noSuchFileOrDirectory where isFolderThere: Self.oddity(of: name)
            default: nil
            }
        guard let what = found else { return nil }
        self.what = what
    }

    /// The reason and the next step.
    var message: String {
        "the disk of the embedded store does not allow \(what); take the store to another disk (sync-agent move-store)"
    }

    // MARK: Names that not all file systems take

    /// Of Windows, whose rules FAT, exFAT, NTFS and SMB have (Win32, "Naming Files, Paths, and Namespaces").
    private static let refused: Set<Unicode.Scalar> = ["\"", "*", ":", "<", ">", "?", "\\", "|"]
    private static let devices: Set<String> = Set(
        ["CON", "PRN", "AUX", "NUL"] + (1...9).flatMap { ["COM\($0)", "LPT\($0)"] })

    private static func oddity(of name: String) -> String? {
        if let scalar = name.unicodeScalars.first(where: { refused.contains($0) || $0.value < 0x20 }) {
            return character(scalar)
        }
        if let last = name.unicodeScalars.last, last == "." || last == " " {
            return "names that end in a dot or a space"
        }
        let stem = name.prefix { $0 != "." }.uppercased()
        return devices.contains(stem) ? "the name \(stem)" : nil
    }

    /// One that a disk may have no code for: that depends on how it is mounted (`iocharset`).
    private static func foreignCharacter(in name: String) -> String? {
        name.unicodeScalars.first { !$0.isASCII }.map(character)
    }

    private static func character(_ scalar: Unicode.Scalar) -> String {
        "the character \(String(Character(scalar)).escapingControls) in names"
    }
}
