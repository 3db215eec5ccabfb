/// The shape that the paths of ``ConfigKeys`` make: which names may stand where.
enum KeyTree {
    enum Shape {
        case leaf(KeyDescription)
        case section
        case list
    }

    /// What stands at a path in the schema's spelling (`watch[].path`); `nil` when nothing does.
    static func shape(of path: String) -> Shape? {
        for key in ConfigKeys.all {
            if key.path == path { return .leaf(key) }
            if key.path.hasPrefix(path + ".") { return .section }
            if key.path.hasPrefix(path + "[].") { return .list }
        }
        return nil
    }

    /// The names directly below a section, in the order of the reference; those at the top for `""`.
    static func names(in section: String) -> [String] {
        var names: [String] = []
        for key in ConfigKeys.all {
            let rest =
                section.isEmpty
                ? key.path[...] : key.path.hasPrefix(section + ".") ? key.path.dropFirst(section.count + 1) : ""
            let name = String(rest.prefix { $0 != "." && $0 != "[" })
            if !name.isEmpty, names.last != name { names.append(name) }
        }
        return names
    }

    /// The sections that have a key of this name.
    static func sections(with name: String) -> [String] {
        ConfigKeys.all.filter { $0.name == name }.map { String($0.section) }
    }
}
