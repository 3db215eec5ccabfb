import SyncSystem

/// Hands things from whoever has them, on any thread, to the tasks that take them, the oldest first. Whoever waits for one
/// is woken by the thread that gives it: no task in between has to get its turn first.
///
/// To give is not to wait. Who gives waits for ``allTaken()`` before the next, and so bounds what lies here.
final class Handover<Thing: Sendable>: Sendable {
    private struct State {
        /// Given, and not taken.
        var things: [Thing] = []
        /// How many were taken.
        var taken = 0
        var isFinished = false
        var lastNumber = 0
        /// Who waits for a thing, by number: there is none then.
        var takers: [Int: CheckedContinuation<Thing?, Never>] = [:]
        /// Who waits until so many are taken.
        var givers: [Int: (count: Int, continuation: CheckedContinuation<Void, Never>)] = [:]

        /// - Returns: whether the taker is to be answered now, and with what; who has waited for that.
        mutating func take(
            _ taker: CheckedContinuation<Thing?, Never>, _ number: Int
        ) -> (isOver: Bool, thing: Thing?, givers: [CheckedContinuation<Void, Never>]) {
            // A cancellation from here on finds the taker; one from before is seen here.
            if Task.isCancelled { return (true, nil, []) }
            if things.isEmpty {
                if !isFinished { takers[number] = taker }
                return (isFinished, nil, [])
            }
            let thing = things.removeFirst()
            taken += 1
            let count = taken
            let served = givers.filter { $0.value.count <= count }
            for number in served.keys { givers[number] = nil }
            return (true, thing, served.values.map(\.continuation))
        }
    }

    private let state = Mutex(State())

    /// After the end it is in vain.
    func give(_ thing: Thing) {
        let taker = state.withLock { state -> CheckedContinuation<Thing?, Never>? in
            if let (_, taker) = state.takers.popFirst() {
                state.taken += 1
                return taker
            }
            if !state.isFinished { state.things.append(thing) }
            return nil
        }
        taker?.resume(returning: thing)
    }

    /// Waits until all that was given by now is taken, or the end, or the task is cancelled.
    func allTaken() async {
        let number = newNumber()
        await withTaskCancellationHandler {
            await withCheckedContinuation { (giver: CheckedContinuation<Void, Never>) in
                let isOver = state.withLock { state in
                    if state.things.isEmpty || Task.isCancelled { return true }
                    state.givers[number] = (state.taken + state.things.count, giver)
                    return false
                }
                if isOver { giver.resume() }
            }
        } onCancel: {
            state.withLock { $0.givers.removeValue(forKey: number)?.continuation }?.resume()
        }
    }

    /// Waits for a thing, and takes it; `nil` at the end, and when the task is cancelled.
    func next() async -> Thing? {
        let number = newNumber()
        return await withTaskCancellationHandler {
            await withCheckedContinuation { (taker: CheckedContinuation<Thing?, Never>) in
                let (isOver, thing, givers) = state.withLock { $0.take(taker, number) }
                for giver in givers { giver.resume() }
                if isOver { taker.resume(returning: thing) }
            }
        } onCancel: {
            state.withLock { $0.takers.removeValue(forKey: number) }?.resume(returning: nil)
        }
    }

    /// The end: nobody waits any more, and what was not taken is dropped.
    func finish() {
        let (takers, givers) = state.withLock { state in
            state.isFinished = true
            state.things = []
            defer { (state.takers, state.givers) = ([:], [:]) }
            return (Array(state.takers.values), state.givers.values.map(\.continuation))
        }
        for taker in takers { taker.resume(returning: nil) }
        for giver in givers { giver.resume() }
    }

    private func newNumber() -> Int {
        state.withLock { state in
            state.lastNumber += 1
            return state.lastNumber
        }
    }
}
