/// What each section is about, for the reference and the template.
enum ConfigSections {
    private static let meanings = [
        "store": "Where the copies are stored.",
        "watch": "The folders that are watched.",
        "photos": "What is stored of a photo.",
        "upload": "The pace of the work.",
        "tiers": "When photos move to the archive.",
        "retention": "When gallery events are archived and their text is deleted.",
        "restore": "How archived photos come back.",
        "cost": "What estimates of a bill are made from.",
        "share": "The bounds of a shared vacation.",
        "verify": "How the agent sees that what is stored is whole.",
        "projects": "What is kept of projects.",
        "notify": "Who is told of restores that are ready, have failed, or end soon.",
    ]

    /// - Parameter section: as in the paths of keys, with `[]` for a list.
    static func meaning(of section: some StringProtocol) -> String? {
        meanings[section.hasSuffix("[]") ? String(section.dropLast(2)) : String(section)]
    }
}
