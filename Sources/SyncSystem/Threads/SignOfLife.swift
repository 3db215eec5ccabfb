/// Work that waits for a disk tells that the disk still answers: each entry of a folder that was read is a sign, and so is
/// each folder that got its watch. A large one on a slow disk takes minutes, and is none that hangs.
///
/// It is found as ``PooledWork`` is: code that reads a folder gives signs however deep it lies, and needs no parameter.
/// Where nobody listens, nothing is done.
package enum SignOfLife {
    /// Hears the signs of what runs with this value. Called on any thread.
    @TaskLocal package static var listener: (@Sendable () -> Void)?

    package static func give() { listener?() }
}
