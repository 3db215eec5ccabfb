/// What one client, and all of them together, may take.
package struct HTTPLimits: Sendable {
    /// Bytes of request line and header; beyond: 431.
    package var header = 16 << 10
    /// Lines of the header; beyond: 431.
    package var headerLines = 64
    /// Bytes of the target; beyond: 414.
    package var target = 8 << 10
    /// Bytes of a body; beyond, and beyond what the handler takes there: 413.
    package var body = 64 << 10
    /// Bytes of all larger bodies that are held at one time; beyond: 503.
    package var largeBodies = 40 << 20
    /// From the first byte of a header to its end; then 408.
    package var headerTime = Duration.seconds(10)
    /// From the end of the header to that of the body; then 408.
    package var bodyTime = Duration.seconds(30)
    /// The same of a larger one.
    package var largeBodyTime = Duration.seconds(300)
    /// A larger body that has taken so long, and comes by fewer bytes a second, makes room for one that finds none: 408.
    package var slowBodyTime = Duration.seconds(10)
    package var slowBodyPace = 16 << 10
    /// Between two requests, and before the first.
    package var idleTime = Duration.seconds(60)
    /// How long nothing of an answer may leave; seen before twice that time is over.
    package var stallTime = Duration.seconds(30)
    /// How long answers may go on when the server ends.
    package var endTime = Duration.seconds(5)
    /// How long a refused client may go on sending after the answer: closed at once, it would not see why.
    package var lingerTime = Duration.seconds(1)
    /// Connections. Beyond, the one that has waited for a whole request of its client longest is closed; when all are being
    /// answered, the new one gets 503.
    package var connections = 512

    package init() {}
}
