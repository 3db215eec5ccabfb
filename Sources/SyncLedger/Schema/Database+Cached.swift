import GRDB

extension Database {
    /// Runs a statement that is prepared once for each connection. Answers the rows that it changed.
    @discardableResult
    func run(_ sql: String, _ arguments: StatementArguments = []) throws -> Int {
        try cachedStatement(sql: sql).execute(arguments: arguments)
        return changesCount
    }

    func rows<Record: FetchableRecord>(
        _ sql: String, _ arguments: StatementArguments = [], as type: Record.Type = Record.self
    ) throws -> [Record] {
        try Record.fetchAll(cachedStatement(sql: sql), arguments: arguments)
    }

    /// As ``rows(_:_:as:)``, one after the other, so that they need not all be in memory.
    func forEachRow<Record: FetchableRecord>(
        _ sql: String, _ arguments: StatementArguments, _ visit: (Record) throws -> Void
    ) throws {
        let rows = try Record.fetchCursor(cachedStatement(sql: sql), arguments: arguments)
        while let row = try rows.next() { try visit(row) }
    }

    func row<Record: FetchableRecord>(
        _ sql: String, _ arguments: StatementArguments = [], as type: Record.Type = Record.self
    ) throws -> Record? {
        try Record.fetchOne(cachedStatement(sql: sql), arguments: arguments)
    }

    func number(_ sql: String, _ arguments: StatementArguments = []) throws -> Int64? {
        try Int64.fetchOne(cachedStatement(sql: sql), arguments: arguments)
    }

    func numbers(_ sql: String, _ arguments: StatementArguments = []) throws -> [Int64] {
        try Int64.fetchAll(cachedStatement(sql: sql), arguments: arguments)
    }
}
