/// Work that waits for a disk tells that the disk still answers: entries of a folder that were read are a sign, and so
/// is each folder that got its watch. A large one on a slow disk takes minutes, and is none that hangs.
///
/// It is found as ``PooledWork`` is: code that reads a folder gives signs however deep it lies, and needs no parameter.
/// Where nobody listens, nothing is done.
package enum SignOfLife {
    /// For so long a thread waits for a disk before others go on without it: one that has to wake up takes some seconds.
    package static let patience = Duration.seconds(15)
    /// How long what waits for a disk may take to end when it is told to. A disk that hangs holds its thread for ever:
    /// then that is given up.
    package static let patienceAtEnd = Duration.seconds(3)

    @TaskLocal private static var listener: (@Sendable () -> Void)?

    /// - Parameter listener: hears the signs of `work`, on its thread.
    package static func hear<Value>(
        _ listener: @escaping @Sendable () -> Void, of work: () throws -> Value
    ) rethrows -> Value {
        try Self.$listener.withValue(listener) { try work() }
    }

    package static func give() {
        listener?()
        PooledWork.giveSign()
    }
}

/// A thread has given no sign of life for so long that its caller goes on without it
/// (``BlockingPool/run(givingUpAfter:onSilence:_:)``).
package struct NoSignOfLife: Error {}
