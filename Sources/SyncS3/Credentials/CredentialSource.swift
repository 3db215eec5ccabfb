import SyncCore

/// Where credentials came from: what `doctor` prints and errors name.
package enum CredentialSource: Hashable, Sendable {
    case environment
    case profile(String, file: String)
    /// The program that a profile names.
    case process(profile: String)
    /// The endpoint of ECS, EKS or a like of theirs.
    case container
    /// The role of the EC2 instance.
    case instanceRole(String)
}

extension CredentialSource: CustomStringConvertible {
    package var description: String {
        switch self {
        case .environment: "environment"
        case .profile(let name, let file): "profile \"\(name.escapingControls)\" of \(file.escapingControls)"
        case .process(let profile): "credential_process of profile \"\(profile.escapingControls)\""
        case .container: "container"
        case .instanceRole(let name): "instance role \(name.escapingControls)"
        }
    }
}
