import Logging
import SyncCore
import SystemPackage

/// What was told of how the roots are watched, so that it is told once.
struct ToldWatching {
    /// Of the kernel's queue, by root, as far as they are counted.
    private var overflows: [FilePath: Int] = [:]
    /// Why roots are not watched wholly.
    private var causes: [FilePath: WatchReport.Cause] = [:]

    /// Told when it begins and when it ends. The note's numbers may be others each time; `status` has them. That a
    /// folder is not there, its scan tells.
    mutating func logCauses(_ reports: [WatchReport], _ logger: Logger) {
        for report in reports where causes[report.root] != report.cause {
            let root = report.root.string.escapingControls
            switch (report.cause, report.note) {
            case (nil, _): logger.notice("\(root): all of it is watched")
            case (.absent?, _), (_, nil): break
            case (_, let note?): logger.notice("\(root): \(note)")
            }
            causes[report.root] = report.cause
        }
    }

    /// Those that were not counted yet.
    mutating func countOverflows(_ reports: [WatchReport]) -> Int {
        reports.reduce(0) { count, report in
            count + max(report.overflows - (overflows.updateValue(report.overflows, forKey: report.root) ?? 0), 0)
        }
    }
}
