import FoundationEssentials
import Glibc
import SyncSystem
import SystemPackage

extension PartFile {
    /// Gives the whole and verified file its time, its mode and its name, and sees to it that a power failure takes none of
    /// them back.
    /// - Returns: `false`, with nothing changed at the destination, when something has the name and is not to be replaced.
    func place(at destination: FilePath, modified: Date?, overwrites: Bool) throws -> Bool {
        // File systems without times or modes of their own (FAT, SMB) refuse; the bytes count.
        if let modified { _ = futimens(descriptor.rawValue, [timespec(modified), timespec(modified)]) }
        _ = fchmod(descriptor.rawValue, Self.ordinaryMode())
        try descriptor.sync()
        guard try overwrites ? replace(destination) : takeName(destination) else { return false }
        try Folder.sync(destination.removingLastComponent())
        return true
    }

    private func replace(_ destination: FilePath) throws -> Bool {
        markGone()
        guard rename(path.string, destination.string) == 0 else { throw Errno(rawValue: errno) }
        return true
    }

    private func takeName(_ destination: FilePath) throws -> Bool {
        var isRenamed = false
        let isOurs = try FreeName.take(destination, for: path, calls) {
            isRenamed = true
            markGone()
        }
        if isOurs, !isRenamed { try remove() }
        return isOurs
    }

    /// What open(2) gives to a new file of mode 0666. umask(2) cannot be asked without changing it for all threads;
    /// proc(5) tells it.
    private static func ordinaryMode() -> mode_t {
        let status = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)) ?? ""
        let line = status.split(separator: "\n").first { $0.hasPrefix("Umask:") }
        let mask = line?.split(whereSeparator: \.isWhitespace).last.flatMap { mode_t($0, radix: 8) }
        return 0o666 & ~(mask ?? 0o077)
    }
}

extension timespec {
    fileprivate init(_ date: Date) {
        let seconds = date.timeIntervalSince1970.rounded(.down)
        let rest = (date.timeIntervalSince1970 - seconds) * 1e9
        self.init(tv_sec: time_t(seconds), tv_nsec: min(Int(rest), 999_999_999))
    }
}
