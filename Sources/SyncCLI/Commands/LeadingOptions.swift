import ArgumentParser

/// Lets what every command takes stand before the command too: `sync-agent --config FILE status`.
enum LeadingOptions {
    /// The arguments with the options in front moved behind the command that they are for.
    static func moved(_ arguments: [String], root: any ParsableCommand.Type) -> [String] {
        var options: [String] = []
        var rest = arguments[...]
        while let first = rest.first {
            if first == "--config", rest.count > 1 {
                options += rest.prefix(2)
                rest = rest.dropFirst(2)
            } else if first.hasPrefix("--config=") || first == "--verbose" || first == "-v" {
                options.append(first)
                rest = rest.dropFirst()
            } else {
                break
            }
        }
        guard !options.isEmpty else { return arguments }
        var command = root
        var path: [String] = []
        while let name = rest.first,
            let child = command.configuration.subcommands.first(where: { $0.configuration.commandName == name })
        {
            path.append(name)
            command = child
            rest = rest.dropFirst()
        }
        return path + options + rest
    }
}
