import ArgumentParser
import SyncCore
import SyncEngine

/// Which archived photos a command is about.
struct MemoryOptions: ParsableArguments {
    @Option(help: "Only this profile: its id, its telephone number or its name.")
    var profile: String?

    @Option(help: ArgumentHelp("Only events created on this day or later, UTC.", valueName: "yyyy-mm-dd"))
    var from: CalendarDay?

    @Option(help: ArgumentHelp("Only events created on this day or earlier, UTC.", valueName: "yyyy-mm-dd"))
    var to: CalendarDay?

    @Option(help: "Only events of this type, such as taskResponse.")
    var type: GalleryEventType?

    func validate() throws {
        if let from, let to, to < from { throw ValidationError("--to is before --from") }
        if let profile, profile.isEmpty { throw ValidationError("--profile takes an id, a number or a name") }
    }

    func filter(_ book: ProfileBook) -> MemoryFilter {
        // The id of a known profile is in its one form already.
        let ignoresCase = profile.map { !book.isKnown($0) } ?? false
        return MemoryFilter(
            profiles: profile.map(book.keyNames), ignoresCase: ignoresCase, from: from, to: to, type: type)
    }
}

extension CalendarDay: ExpressibleByArgument {
    package init?(argument: String) {
        self.init(argument)
    }
}

extension GalleryEventType: ExpressibleByArgument {}
