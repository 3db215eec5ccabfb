/// The rules and the mix that are in force, and what has been counted for them.
struct FaultScript: Sendable {
    private struct Subject: Hashable {
        let operation: S3Operation
        let key: ObjectName?
    }

    private var rules: [(rule: FaultRule, seen: Int)] = []
    private var numbered: [Int: Fault] = [:]
    private var mix: FaultMix?
    private var attempts: [Subject: Int] = [:]

    mutating func add(_ rule: FaultRule) {
        rules.append((rule, 0))
    }

    mutating func add(_ fault: Fault, toRequest number: Int) {
        numbered[number] = fault
    }

    mutating func play(_ mix: FaultMix?) {
        self.mix = mix
        attempts = [:]
    }

    mutating func clear() {
        self = FaultScript()
    }

    /// The fault for the next request. A number wins over a rule, an earlier rule over a later, a rule over the mix;
    /// all rules that fit count the request.
    mutating func take(number: Int, _ operation: S3Operation, _ key: ObjectName?) -> Fault? {
        var chosen = numbered.removeValue(forKey: number)
        for index in rules.indices where rules[index].rule.fits(operation, key) {
            rules[index].seen += 1
            if chosen == nil, rules[index].rule.numbers.contains(rules[index].seen) { chosen = rules[index].rule.fault }
        }
        guard let mix else { return chosen }
        let subject = Subject(operation: operation, key: key)
        let attempt = attempts[subject, default: 0]
        attempts[subject] = attempt + 1
        return chosen ?? mix.fault(operation, key, attempt: attempt)
    }
}
