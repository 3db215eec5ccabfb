/// Why a notice was not handed over, and what to do. It holds no secret.
struct NoticeFailure: Error, Hashable, CustomStringConvertible {
    let description: String

    init(_ description: String) {
        self.description = description
    }
}
