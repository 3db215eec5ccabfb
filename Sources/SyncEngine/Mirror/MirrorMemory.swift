import SyncCore
import SyncSystem

/// What is known of a mirror before its share is read.
struct MirrorMemory: Sendable {
    /// What was put into the folder; `nil` where nothing is known of that.
    let known: MirrorState?
    /// The same, as the hidden file there has it.
    let written: MirrorState?
    /// Whether the hidden file, or a part of it, could not be read.
    let isDamaged: Bool
    /// Whether the folder is another one than an earlier round of this process has filled.
    let isLost: Bool
    /// What the share had last, by the manifest in the folder. Looked for only where the hidden file does not tell it.
    let share: CheckedShare?
    /// Whether that is the share which is meant, as far as anybody can tell without reading it.
    let isAsked: Bool

    /// Blocks.
    /// - Parameters:
    ///   - folder: `nil` where there is none yet.
    ///   - filled: by an earlier round of this process.
    ///   - asked: the share, where the person's reference tells it.
    /// - Throws: ``MirrorError``, ``DownloadError``.
    init(of folder: MirrorFolder?, filled: FilledFolder?, asked: ShareID?) throws {
        let (written, isDamaged) = try folder?.state() ?? (nil, false)
        self.written = written
        self.isDamaged = isDamaged
        if let filled {
            let isSame = folder.map { filled.isSame(as: $0) } ?? false
            known = filled.recall(written, isDamaged: isDamaged, isSame: isSame)
            isLost = known == nil && !isDamaged
        } else {
            known = written
            isLost = false
        }
        let isWhole = !isDamaged && known?.expected != nil
        let id = known.flatMap { ShareID($0.shareId) } ?? asked
        share = isWhole ? nil : folder?.share(id)
        isAsked = id != nil
    }

    /// Whether photos of the share were put here, or may have been.
    var hadPhotos: Bool { isDamaged || (known?.hasPhotos ?? (share != nil)) }

    /// Whether the folder is the mirror of a share, and has forgotten what was put there.
    func hasForgotten(_ id: ShareID) -> Bool { isDamaged || known == nil && share?.id == id }
}

/// A folder that was mirrored into, by which it is told from another one that has its path later.
struct FilledFolder: Sendable {
    let identity: FolderIdentity?
    /// What is known of it.
    let state: MirrorState
    /// The same, as its hidden file had it: that may be one that cannot be written.
    let written: MirrorState?

    /// Whether it is this one: under whatever name, or, of a drive that was mounted anew, by the manifest that was put there.
    func isSame(as folder: MirrorFolder) -> Bool {
        folder.identity == identity || (state.manifest.map { folder.hasManifest($0.sha256) } ?? false)
    }

    /// What is known of the folder that has the path now.
    /// - Parameters:
    ///   - now: as its hidden file has it.
    ///   - isSame: whether it is this one.
    /// - Returns: `nil` when nothing is known of it.
    func recall(_ now: MirrorState?, isDamaged: Bool, isSame: Bool) -> MirrorState? {
        // Whatever wrote there since knows more.
        if let now { return now == written ? state : now }
        // A hidden file that was written, and is not there, was taken away with the rest.
        return isSame && (isDamaged || written == nil) ? state : nil
    }
}
