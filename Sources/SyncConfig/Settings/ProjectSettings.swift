/// What is stored of projects.
package struct ProjectSettings: Hashable, Sendable {
    /// How many versions of an image stay reachable.
    package var versions: Int
}

extension ProjectSettings {
    init(from reader: inout SettingsReader) {
        versions = reader.value(ConfigKeys.projectVersions)
    }
}
