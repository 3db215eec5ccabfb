import ArgumentParser
import SyncCore
import SystemPackage

/// A path on the command line, or a name that may be one. Its bytes are kept, also where they are no UTF-8.
struct PathArgument: ExpressibleByArgument, Hashable, Sendable {
    /// As ``RawText``.
    let text: String

    init(_ text: String) { self.text = text }

    /// An empty one would be the working folder, and is a variable that was not set.
    init?(argument: String) {
        if argument.isEmpty { return nil }
        self.init(argument)
    }

    /// From the root.
    var path: FilePath { ProcessEnvironment.absolute(text) }
}

/// Words that are no paths are texts: a name for a share, an id, a bucket. One that is no UTF-8 would be another one, and go
/// wherever texts go, so that it is refused.
enum TextArguments {
    /// - Parameter command: parsed.
    /// - Throws: `ValidationError`.
    static func check(_ command: any ParsableCommand) throws {
        guard let text = rawText(in: Mirror(reflecting: command)) else { return }
        throw ValidationError("\"\(RawText.shown(text).escapingControls)\" is not text in UTF-8; write it in UTF-8")
    }

    private static func rawText(in mirror: Mirror) -> String? {
        for (_, value) in mirror.children where !(value is PathArgument) {
            if let text = value as? String {
                if RawText.isRaw(text) { return text }
            } else if let text = rawText(in: Mirror(reflecting: value)) {
                return text
            }
        }
        return nil
    }
}
