/// When a fault happens.
struct FaultRule: Sendable {
    /// `nil`: any.
    let operations: Set<S3Operation>?
    /// `nil`: any, and requests without one.
    let key: String?
    /// Which of the requests that fit, counted from 1 since the rule was given.
    let numbers: ClosedRange<Int>
    let fault: Fault

    func fits(_ operation: S3Operation, _ key: ObjectName?) -> Bool {
        (operations?.contains(operation) ?? true) && (self.key.map { ObjectName($0) == key } ?? true)
    }
}
