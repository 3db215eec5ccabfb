package import FoundationEssentials
package import SyncCore

extension FileStamp {
    /// How long ago the file was modified. A time in the future says nothing about when that was (a camera's clock, a
    /// copied attribute): such a file counts as old.
    package func age(at now: Date) -> Duration {
        let age = Duration.milliseconds(Int64(now.timeIntervalSince1970 * 1_000) - modified / 1_000_000)
        return age < .zero ? .seconds(Int64.max / 2) : age
    }
}
