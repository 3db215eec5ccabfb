import NIOCore
import NIOHTTP1
import SyncCore

/// A connection, whose requests are answered one after the other.
struct HTTPConnection: Sendable {
    private let channel: any Channel
    private let requests: AsyncStream<IncomingRequest>

    /// On the channel's event loop, before anything is read.
    init(_ channel: any Channel, _ watch: ConnectionWatch, _ limits: HTTPLimits, _ handler: any WebHandler) throws {
        self.channel = channel
        let (requests, continuation) = AsyncStream.makeStream(of: IncomingRequest.self)
        self.requests = requests
        var decoding = NIOHTTPDecoderLimitConfiguration()
        // The watch counts first; this is for the fields behind a body in chunks.
        decoding.maxHeaderFieldSize = 4 * limits.header
        decoding.maxHeaderListSize = 4 * limits.header
        decoding.maxHeaderFieldCount = limits.headerLines
        // Which answers are in chunks is said by us: the encoder does not know of HEAD.
        var encoding = HTTPResponseEncoder.Configuration()
        encoding.automaticallySetFramingHeaders = false
        let pipeline = channel.pipeline.syncOperations
        try pipeline.addHandler(watch)
        try pipeline.configureHTTPServerPipeline(
            withPipeliningAssistance: false, withErrorHandling: false, withOutboundHeaderValidation: true,
            withEncoderConfiguration: encoding, withDecoderLimitConfiguration: decoding)
        try pipeline.addHandler(
            RequestAssembler(limits, handler, watch, peer: channel.remoteAddress?.ipAddress, continuation))
    }

    /// Answers until the connection is gone, which cancels what is being answered, or the task is cancelled.
    func serve(_ responder: Responder) async {
        await withDiscardingTaskGroup { group in
            group.addTask { await answerAll(responder) }
            // Never fails.
            try? await channel.closeFuture.get()
            group.cancelAll()
        }
    }

    private func answerAll(_ responder: Responder) async {
        for await request in requests {
            do {
                let goesOn = try await responder.answer(request, on: channel)
                if case .refused = request.content {
                    // The rest is the watch's: closed now, over bytes that nobody has read, the answer might be lost.
                    try? await channel.close(mode: .output).get()
                    return
                }
                if !goesOn { break }
            } catch {
                break
            }
        }
        try? await channel.close().get()
    }
}
