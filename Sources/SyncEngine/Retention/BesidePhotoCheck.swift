import SyncCore
import SyncLedger
import SystemPackage

/// Tells whether the photo that an event names is one that is proved to be stored. Events under one id may be in
/// several folders, with another photo of that name in each: what counts is the photo beside this very file. Everything
/// here blocks.
struct BesidePhotoCheck: Sendable {
    static let missing = "its photo is not beside the file"
    static let another =
        "the photo beside the file is another one than was archived; the next cleanup looks at that one too"

    let ledger: Ledger
    let reducer: any PhotoReducer

    /// - Parameter md5: of the photo that is proved to be stored.
    /// - Returns: `nil` when it is the photo.
    /// - Throws: ``LedgerError``.
    func whyOther(
        than md5: MD5Digest, _ name: FilePath.Component, beside place: EventPlace
    ) throws(LedgerError) -> String? {
        let photo: PhotoFacts
        do throws(PhotoError) {
            photo = try reducer.examine(place.file.removingLastComponent().appending(name))
        } catch {
            guard error.code == .missing else { return "its photo beside the file: \(error.message)" }
            return Self.whyMissing(try ledger.photo(name, besideFile: place.photoID), stored: md5)
        }
        return photo.digest.md5 == md5 ? nil : Self.another
    }

    /// Of a photo that is not beside the file.
    /// - Parameters:
    ///   - known: what is known of it.
    ///   - md5: of what is stored of its event.
    /// - Returns: `nil` when somebody has taken it away since it was stored.
    static func whyMissing(_ known: PhotoBeside?, stored md5: MD5Digest?) -> String? {
        guard let md5, known?.proven?.md5 == md5 else { return missing }
        return nil
    }
}
