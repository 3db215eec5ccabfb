import SyncS3

extension CurlTransport {
    /// For links, which anyone may open: no credentials, and the certificates that the environment names.
    /// - Throws: ``CommandFailure``.
    static func forLinks(_ environment: [String: String]) throws -> CurlTransport {
        let bundle = ["AWS_CA_BUNDLE", "SSL_CERT_FILE"].compactMap { environment[$0] }.first { !$0.isEmpty }
        do {
            return try CurlTransport(settings: TransportSettings(caBundle: bundle))
        } catch {
            throw CommandFailure.failed(error.message)
        }
    }
}
