import NIOCore
package import SyncCore
import SystemPackage

/// Why the server does not listen.
package struct HTTPServerError: Error, Hashable, Sendable, CustomStringConvertible {
    package enum Code: Hashable, Sendable {
        /// Something listens there already.
        case portTaken
        /// No interface of this machine has the address.
        case addressNotHere
        /// A port below 1024, without the right to it.
        case notPermitted
        case failed
    }

    package let code: Code
    package let address: ListenAddress
    /// The reason, with the next step.
    package let message: String

    init(_ error: any Error, _ address: ListenAddress) {
        self.address = address
        let errno = (error as? IOError).map { Errno(rawValue: $0.errnoCode) }
        switch errno {
        case .addressInUse?:
            code = .portTaken
            message = "another program listens there: stop it, or choose another port"
        case .addressNotAvailable?, .addressFamilyNotSupported?:
            code = .addressNotHere
            message = "this machine does not have that address: choose one that `ip address` shows, or 127.0.0.1"
        case .permissionDenied?, .notPermitted?:
            code = .notPermitted
            message = "ports below 1024 need a right of their own: choose a higher one, as 8420"
        case let errno:
            code = .failed
            message = errno.map { "\($0)" } ?? "\(error)"
        }
    }

    package var description: String { "cannot listen at \(address): \(message)" }
}
