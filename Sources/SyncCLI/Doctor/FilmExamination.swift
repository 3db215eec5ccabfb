import SyncEngine
import SyncPhotos

/// What `doctor` says of the program that makes pictures of films. Films are stored and shared without it, too.
struct FilmExamination: Sendable {
    private static let name = "films"

    let frames: FilmFrames?

    var finding: Finding {
        guard let frames else {
            return .ok(Self.name, "shared without a picture of them: ffmpeg is not installed")
        }
        return .ok(Self.name, "shared with a picture of them, made by \(frames.program)")
    }
}
