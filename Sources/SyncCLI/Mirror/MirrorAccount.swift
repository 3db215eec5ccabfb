import SyncEngine

/// What the looks of one watch have come to, and what of it was told already.
struct MirrorAccount {
    /// Of all looks; `nil` before the first that could be made.
    private(set) var total: MirrorReport?
    /// Of the last look, as it would be that of `mirror` without `--watch`.
    private(set) var status = ExitStatus.done
    /// By the last look.
    private var told: Set<String> = []

    mutating func note(_ outcome: Result<MirrorResult, any Error>) {
        switch outcome {
        case .success(let result):
            total = MirrorReport(result, after: total)
            status = ExitStatus(result)
        case .failure(let error):
            status = ExitStatus(error)
        }
    }

    /// Those lines of a look that the look before it had not.
    mutating func news(in lines: [String]) -> [String] {
        defer { told = Set(lines) }
        return lines.filter { !told.contains($0) }
    }
}

extension ExitStatus {
    init(_ result: MirrorResult) {
        if let obstacle = result.obstacle {
            self.init(obstacle)
        } else if result.end != nil {
            self = result.isComplete ? .done : .failed
        } else if result.failed == 0 {
            self = .done
        } else {
            let isAnyThere = !result.downloaded.isEmpty || result.alreadyThere > 0 || !result.kept.isEmpty
            self = isAnyThere ? .partlyDone : .failed
        }
    }
}
