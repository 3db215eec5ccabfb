package import SystemPackage

/// Reads when photos were taken, without their pictures. Its calls block: the caller gives them a thread.
package protocol CaptureTimeSource: Sendable {
    /// - Returns: `nil` when the file tells no time that a camera can have meant.
    /// - Throws: ``PhotoError``; `.changed` when the file is no longer the one that was examined.
    func captureTime(of file: FilePath, stamp: FileStamp) throws(PhotoError) -> CaptureTime?
}
