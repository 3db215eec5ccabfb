import SyncCore
import SyncSystem
import SystemPackage

extension FileReplacement {
    /// Deals with what a process that was killed left in a folder: its own files go, and what another program wrote gets
    /// its place back.
    /// - Returns: files of other programs that have no place to go to. They are kept.
    /// - Throws: `Errno`.
    func settle(in folder: FilePath) throws -> [FilePath] {
        var kept: [FilePath] = []
        for name in try Self.names(in: folder, where: { $0.hasPrefix(HiddenFile.start) }) {
            if HiddenFile.isDraft(name) {
                try calls.remove(folder.appending(name))
            } else if let hidden = HiddenFile(name, in: folder), try !settle(hidden, in: folder) {
                kept.append(hidden.path)
            }
        }
        return kept
    }

    /// - Returns: `false` when it is kept.
    private func settle(_ hidden: HiddenFile, in folder: FilePath) throws -> Bool {
        if try removeOwn(hidden) { return true }
        let place = try Self.names(in: folder, where: { !$0.hasPrefix(HiddenFile.start) }).lazy
            .map { folder.appending($0) }
            .first { FileStamp.ofFile($0).map(hidden.isNew) == true }
        guard let place else { return false }
        return try giveBack(hidden, to: place)
    }

    private static func names(
        in folder: FilePath, where isWanted: (String) -> Bool
    ) throws -> [FilePath.Component] {
        try Folder.names(in: folder)?.filter { isWanted($0.string) } ?? []
    }
}
