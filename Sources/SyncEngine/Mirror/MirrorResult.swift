package import FoundationEssentials
package import SyncCore
import SyncSystem
package import SystemPackage

/// What a mirror has come to.
package struct MirrorResult: Sendable {
    /// A photo that is not as the share has it, and stays so.
    package struct Kept: Hashable, Sendable {
        package enum Reason: String, Hashable, Sendable {
            /// By the person, after it was put there.
            case changed, deleted
            /// Something else has the name: another file, an empty one, or what is no file.
            case nameTaken
        }

        package let name: String
        package let reason: Reason
    }

    package struct Failure: Sendable {
        package let name: String
        package let error: any Error
    }

    /// Why there is nothing more to come.
    package enum End: Hashable, Sendable {
        case expired(Date)
        /// Revoked, or expired and removed, or the link has ended: nobody can tell which.
        case gone
    }

    package let shareID: ShareID
    package let destination: FilePath
    /// As it was read last; `nil` when it could not be read any more.
    package internal(set) var share: CheckedShare?
    /// Names, in the order of their arrival.
    package internal(set) var downloaded: [String] = []
    package internal(set) var alreadyThere = 0
    package internal(set) var kept: [Kept] = []
    package internal(set) var failures: [Failure] = []
    /// Photos that were put there, and of which nobody can tell what has become of them.
    package internal(set) var unreadable: [Failure] = []
    /// Files beside the photos that could not be written: the manifest, and what is known of the mirror.
    package internal(set) var unwritten: [Failure] = []
    /// Names of photos that a share had until it ended, and that did not come before.
    package internal(set) var neverFetched: [String] = []
    /// Names of photos that were not tried, or not to their end, for the obstacle.
    package internal(set) var untried: [String] = []
    /// What no photo would have got past: the disk is full, the host is away.
    package internal(set) var obstacle: (any Error)?
    package internal(set) var end: End?
    /// Whether all photos that the share has were dealt with; of one that has ended, whether all that it had last are here.
    package internal(set) var isComplete = false
    /// Whether photos of it were here before, or may have been.
    var hadPhotos = false
    /// What the person should know besides.
    package internal(set) var notes: [String] = []
    /// The folder that was written into.
    var filled: FilledFolder?

    /// Photos that should be there and are not, as far as can be told.
    package var failed: Int { failures.count + untried.count + neverFetched.count + unreadable.count }

    /// Whether photos of the share are here.
    var hasPhotos: Bool { !downloaded.isEmpty || alreadyThere > 0 }

    /// Whether the share has ended, and nothing of it ever was here.
    package var neverCame: Bool {
        end != nil && !hadPhotos && downloaded.isEmpty && alreadyThere == 0
            && kept.allSatisfy { $0.reason == .nameTaken }
    }

    mutating func noteUnreadable(_ name: String, _ errno: Errno) {
        unreadable.append(Failure(name: name, error: DownloadError.unreadable(errno, destination.appending(name))))
    }

    /// Whether the photo that the share has is here, or what the person made of it.
    var isAllHere: Bool { failed == 0 && kept.allSatisfy { $0.reason == .changed } }
}

/// How far a mirror is with what it has to fetch.
package struct MirrorProgress: Hashable, Sendable {
    package internal(set) var photos = 0
    package internal(set) var photosDone = 0
    /// Bytes, of all photos.
    package internal(set) var size: Int64 = 0
    package internal(set) var sizeHere: Int64 = 0
}

/// Adds up what single downloads tell, on any thread.
final class MirrorMeter: Sendable {
    private struct State {
        var progress: MirrorProgress
        /// Bytes that are here, for each download.
        var here: [Int64]
    }

    private let state: Mutex<State>
    private let observe: @Sendable (MirrorProgress) -> Void

    /// - Parameter sizes: of what is to be downloaded.
    init(sizes: [Int64], observe: @escaping @Sendable (MirrorProgress) -> Void) {
        var progress = MirrorProgress()
        progress.photos = sizes.count
        progress.size = sizes.reduce(0, +)
        state = Mutex(State(progress: progress, here: Array(repeating: 0, count: sizes.count)))
        self.observe = observe
        observe(progress)
    }

    func note(_ index: Int, bytes: Int64) {
        change { state in
            state.progress.sizeHere += bytes - state.here[index]
            state.here[index] = bytes
        }
    }

    func noteEnd() {
        change { $0.progress.photosDone += 1 }
    }

    private func change(_ body: (inout State) -> Void) {
        observe(
            state.withLock { state in
                body(&state)
                return state.progress
            })
    }
}
