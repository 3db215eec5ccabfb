import SyncCore
import SystemPackage

/// What is to become of one photo of a share.
enum MirrorStep: Hashable, Sendable {
    case download(FilePath.Component, overwrites: Bool)
    case alreadyThere(FilePath.Component)
    case kept(FilePath.Component, MirrorResult.Kept.Reason)
    /// Nobody can tell what has become of it.
    case unreadable(FilePath.Component, Errno)
}

/// How a file is now, against what was put there.
enum MirrorStatus: Hashable, Sendable {
    case missing, same, changed
    /// By an empty file, or by what is no file.
    case taken
    /// It cannot be looked at: by its rights, its name or its disk.
    case unreadable(Errno)
}

/// Decides about photos, one by one. What the person did to a file counts more than what the share has.
struct MirrorPlan: Sendable {
    let names: MirrorName
    /// Those that the share tells; `nil` where they are not wanted.
    var originals: OriginalNames?
    /// Whether the person wants the share's photos back, whatever they did to them.
    let isForced: Bool

    /// - Parameters:
    ///   - noted: what was put there for this place in the share.
    ///   - standing: of that file.
    func step(
        for photo: CheckedShare.Photo, noted: (name: FilePath.Component, sha256: String)?, standing: MirrorStatus
    ) -> MirrorStep {
        // The state lies in a folder that may come from anywhere: it cannot make us write to files of other names.
        guard let noted, MirrorName.admits(noted.name, of: photo) else {
            // Under a name that the share does not tell any more, a photo is still that photo.
            guard let noted, !isForced, noted.sha256 == photo.sha256.description,
                OriginalName(noted.name.string, film: photo.film)?.text == noted.name.string
            else { return download(photo) }
            return untouched(noted.name, standing)
        }
        guard noted.sha256 == photo.sha256.description else {
            // Another photo has this place now: it comes beside the first.
            return download(photo, isOther: true)
        }
        if isForced, standing != .same { return .download(noted.name, overwrites: true) }
        return untouched(noted.name, standing)
    }

    private func untouched(_ name: FilePath.Component, _ standing: MirrorStatus) -> MirrorStep {
        switch standing {
        case .same: .alreadyThere(name)
        case .missing: .kept(name, .deleted)
        case .changed: .kept(name, .changed)
        case .taken: .kept(name, .nameTaken)
        case .unreadable(let errno): .unreadable(name, errno)
        }
    }

    /// What a folder is to have of a share.
    func expected(of share: CheckedShare, _ state: MirrorState) -> [Int: MirrorState.File] {
        var files: [Int: MirrorState.File] = [:]
        for photo in share.photos {
            let noted = state.photos[photo.orderIndex]
            let sha256 = photo.sha256.description
            let name = noted?.sha256 == sha256 ? noted?.name : nil
            files[photo.orderIndex] = MirrorState.File(
                name: name ?? choice(for: photo, isOther: noted != nil).name.string, sha256: sha256, size: photo.size,
                modified: MirrorState.noTime)
        }
        return files
    }

    /// A name that somebody else has chosen may be that of a file of this person: that one is never replaced.
    private func download(_ photo: CheckedShare.Photo, isOther: Bool = false) -> MirrorStep {
        let (name, isTold) = choice(for: photo, isOther: isOther)
        return .download(name, overwrites: isForced && !isTold)
    }

    /// The name that a photo gets, and whether the share tells it.
    private func choice(for photo: CheckedShare.Photo, isOther: Bool) -> (name: FilePath.Component, isTold: Bool) {
        if let told = originals?.name(of: photo, isOther: isOther) { return (told, true) }
        return (names.name(of: photo, isOther: isOther), false)
    }
}
