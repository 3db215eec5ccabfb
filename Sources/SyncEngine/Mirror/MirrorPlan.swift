import SyncCore
import SystemPackage

/// What is to become of one photo of a share.
enum MirrorStep: Hashable, Sendable {
    case download(FilePath.Component, overwrites: Bool)
    case alreadyThere(FilePath.Component)
    case kept(FilePath.Component, MirrorResult.Kept.Reason)
}

/// How a file is now, against what was put there.
enum MirrorStatus: Hashable, Sendable {
    case missing, same, changed
}

/// Decides about photos, one by one. What the person did to a file counts more than what the share has.
struct MirrorPlan: Sendable {
    let names: MirrorName
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
            return .download(names.name(of: photo), overwrites: isForced)
        }
        guard noted.sha256 == photo.sha256.description else {
            // Another photo has this place now: it comes beside the first.
            return .download(names.name(of: photo, isOther: true), overwrites: isForced)
        }
        switch standing {
        case .same: return .alreadyThere(noted.name)
        case .missing, .changed:
            if isForced { return .download(noted.name, overwrites: true) }
            return .kept(noted.name, standing == .missing ? .deleted : .changed)
        }
    }
}
