/// `[=====>    ]`: how much of something is done.
enum ProgressBar {
    private static let cells = 20

    static func text(_ done: Int, of total: Int) -> String {
        let filled = total == 0 ? 0 : min(cells * done / total, cells)
        return "[" + String(repeating: "=", count: filled) + String(repeating: " ", count: cells - filled) + "]"
    }
}
