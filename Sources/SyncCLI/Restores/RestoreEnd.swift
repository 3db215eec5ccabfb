import SyncCore
import SyncLedger
import SystemPackage

extension RestoreView {
    /// How it ended, for those who waited.
    /// - Parameter told: what they have read of it, when it began.
    func end(_ report: RestoreReport, _ ended: Restores.Ended, besides told: RestoreReport) -> [String] {
        let ready = ended.summary.counts[.restored] ?? 0
        var line = "\(Quantities.counted(ready, "photo")) can be read now"
        if let output = ended.output {
            line += ", \(Quantities.count(ended.summary.saved)) saved in \(output.text.escapingControls)"
        }
        let news = report.items.news(besides: told.items)
        return failures(news.filter { $0.error != nil }) + notes(news) + [line]
    }
}

extension [RestoreReport.Item] {
    /// The same, without the errors and notes that were told before.
    func news(besides told: [RestoreReport.Item]) -> [RestoreReport.Item] {
        let before = Dictionary(told.map { ($0.key, $0) }, uniquingKeysWith: { first, _ in first })
        return map { item in
            var news = item
            if item.error == before[item.key]?.error { news.error = nil }
            if item.note == before[item.key]?.note { news.note = nil }
            return news
        }
    }
}
