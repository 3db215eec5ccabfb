package import SyncCore
package import SystemPackage

/// When photos were taken.
extension PhotoFileReducer: CaptureTimeSource {
    package func captureTime(of path: FilePath, stamp: FileStamp) throws(PhotoError) -> CaptureTime? {
        let file = try PhotoFile(opening: path)
        let found = try file.stamp()
        guard found.isUntouched(since: stamp) else {
            throw PhotoError(.changed, "the file changed after it was examined")
        }
        let time = try file.captureTime(size: found.size, at: now())
        try file.require(found)
        return time
    }
}
