import Testing

@testable import SyncEngine

/// Things on their way to the tasks that take them.
@Suite struct HandoverTests {
    private let handover = Handover<Int>()

    @Test func `what is given is taken in its order, whether somebody waits for it or not`() async {
        handover.give(1)
        handover.give(2)
        #expect(await handover.next() == 1)
        #expect(await handover.next() == 2)
        let taker = Task.immediate { await handover.next() }
        handover.give(3)
        #expect(await taker.value == 3)
    }

    @Test func `each thing is taken by one, however many wait`() async {
        let takers = (1...3).map { _ in Task.immediate { await handover.next() } }
        for thing in 1...3 { handover.give(thing) }
        var taken: Set<Int?> = []
        for taker in takers { taken.insert(await taker.value) }
        #expect(taken == [1, 2, 3])
    }

    @Test func `whoever gives waits for what was given by then, and not for what comes later`() async {
        await handover.allTaken()
        handover.give(1)
        handover.give(2)
        let giver = Task.immediate { await handover.allTaken() }
        handover.give(3)
        #expect(await handover.next() == 1)
        #expect(await handover.next() == 2)
        await giver.value
        #expect(await handover.next() == 3)
    }

    @Test func `the end drops what was not taken, and nobody waits any more`() async {
        let taker = Task.immediate { await handover.next() }
        handover.finish()
        #expect(await taker.value == nil)
        let other = Handover<Int>()
        other.give(1)
        let giver = Task.immediate { await other.allTaken() }
        other.finish()
        await giver.value
        other.give(2)
        #expect(await other.next() == nil)
        await other.allTaken()
    }

    @Test func `a task that is cancelled takes nothing, and waits for nobody`() async {
        let taker = Task.immediate { await handover.next() }
        taker.cancel()
        #expect(await taker.value == nil)
        handover.give(1)
        let giver = Task.immediate { await handover.allTaken() }
        giver.cancel()
        await giver.value
        #expect(await handover.next() == 1)
    }
}
