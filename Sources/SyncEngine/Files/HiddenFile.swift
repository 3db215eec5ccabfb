import SyncCore
import SyncSystem
import SystemPackage

/// A hidden file beside one that is being replaced. Its name tells which file was read, and which one is to take its place:
/// a file with a third stamp belongs to another program, whoever finds it.
///
/// `.sync-agent-{inode}-{size}-{time}-{inode}-{size}-{time}.old`, in hexadecimal digits.
struct HiddenFile {
    static let start = ".sync-agent-"
    private static let (draftEnd, end) = (".tmp", ".old")

    let path: FilePath
    private let old: Mark
    private let new: Mark

    init(in folder: FilePath, old: FileStamp, new: FileStamp) {
        (self.old, self.new) = (Mark(old), Mark(new))
        path = folder.appending("\(Self.start)\(self.old.text)-\(self.new.text)\(Self.end)")
    }

    /// `nil` for other names.
    init?(_ name: FilePath.Component, in folder: FilePath) {
        let text = name.string
        guard text.hasPrefix(Self.start), text.hasSuffix(Self.end) else { return nil }
        let parts = text.dropFirst(Self.start.count).dropLast(Self.end.count).split(
            separator: "-", omittingEmptySubsequences: false)
        guard parts.count == 6, let old = Mark(parts[..<3]), let new = Mark(parts[3...]) else { return nil }
        (self.old, self.new) = (old, new)
        path = folder.appending(name)
    }

    /// The stamp of what has the hidden name now.
    var stamp: FileStamp? { .ofFile(path) }

    /// Whether it is the file that was read.
    func isOld(_ stamp: FileStamp) -> Bool { Mark(stamp) == old }

    /// Whether it is the one that is to take its place.
    func isNew(_ stamp: FileStamp) -> Bool { Mark(stamp) == new }

    // MARK: Drafts

    /// The name of a new file that is not whole yet. No other program's file ever has it.
    static func draft(_ number: UInt64) -> String { start + String(number, radix: 16) + draftEnd }

    static func isDraft(_ name: FilePath.Component) -> Bool {
        let text = name.string
        guard text.hasPrefix(start), text.hasSuffix(draftEnd), text.utf8.count > start.utf8.count + draftEnd.utf8.count
        else { return false }
        return UInt64(text.dropFirst(start.count).dropLast(draftEnd.count), radix: 16) != nil
    }

    /// A stamp without the device, whose number may be another one after a restart.
    private struct Mark: Hashable {
        var inode: UInt64
        var size: Int64
        var modified: Int64

        init(_ stamp: FileStamp) {
            (inode, size, modified) = (stamp.inode, stamp.size, stamp.modified)
        }

        init?(_ parts: ArraySlice<Substring>) {
            let numbers = parts.compactMap { UInt64($0, radix: 16) }
            guard numbers.count == 3 else { return nil }
            inode = numbers[0]
            size = Int64(bitPattern: numbers[1])
            modified = Int64(bitPattern: numbers[2])
        }

        var text: String {
            [inode, UInt64(bitPattern: size), UInt64(bitPattern: modified)].map { String($0, radix: 16) }
                .joined(separator: "-")
        }
    }
}
